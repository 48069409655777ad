const show = (where, text) => { document.getElementById(where).textContent = text; };
document.getElementById("ask").addEventListener("submit", async (event) => {
  event.preventDefault();
  const query = new FormData(event.target).get("query");
  const reply = await fetch("v1/answer", { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify({ query }) });
  const result = await reply.json();
  show("answer", reply.ok ? result.response : `${result.code}: ${result.message}`);
});
