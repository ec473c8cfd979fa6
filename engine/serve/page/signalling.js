// What the page asks of the server by HTTP. Errors carry the server's own words.

export class Refused extends Error {
  constructor(status, text) {
    super(text);
    this.status = status;
  }
}

async function ask(path, token, options = {}) {
  const headers = { ...options.headers };
  if (token) headers.Authorization = `Bearer ${token}`;
  let response;
  try {
    response = await fetch(path, { ...options, headers, cache: "no-store" });
  } catch {
    throw new Refused(0, "The server cannot be reached.");
  }
  if (!response.ok) {
    const told = await response.json().catch(() => ({}));
    throw new Refused(response.status, told.error ?? `The server answered ${response.status}.`);
  }
  return response;
}

export const about = async (token) => (await ask("/about", token)).json();

export async function begin(token, wanted) {
  const options = { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(wanted) };
  return (await ask("/calls", token, options)).json();
}

// Also while the page is being closed, when nobody waits for the answer.
export const end = (id) => fetch(`/calls/${id}`, { method: "DELETE", keepalive: true }).catch(() => {});
