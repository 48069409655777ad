"""GitHub read through its API instead of its pages: what is asked for, without the page around it.

    place = place.place_of(url)                                    # None: read it as a page
    found = await reading.read(place, Api(request, token), output="markdown")

A repository is its facts, its files and its README; a folder its listing; a file its text, or the lines asked for; a
commit its message and changes; an issue, a pull request and a discussion all that was said, threads by the line they are
about. The text of people is cleaned like any page's.
"""
