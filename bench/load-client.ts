// Sends requests where wrk is not installed. It uses more CPU time than wrk does, so the figures are
// lower on both sides of a comparison.
import { codeOfSave, type Load } from "./harness/load.ts"

const load = JSON.parse(process.argv[2] ?? "{}") as Load
const end = performance.now() + load.seconds * 1_000
const prefix = crypto.randomUUID()
let [sent, failed] = [0, 0]

await Promise.all(Array.from({ length: load.connections }, sendUntilEnd))
console.log(JSON.stringify({ perSecond: (sent - failed) / load.seconds, failed }))

async function sendUntilEnd(): Promise<void> {
  while (performance.now() < end) {
    const response = await send(sent++)
    await response.arrayBuffer()
    if (!response.ok) failed += 1
  }
}

function send(count: number): Promise<Response> {
  const headers: Record<string, string> = {
    ...(load.token === undefined ? {} : { authorization: `Bearer ${load.token}` }),
    ...(load.host === undefined ? {} : { host: load.host }),
  }
  const url = new URL(load.paths[count % load.paths.length] ?? "", load.url)
  if (!load.isSave) return fetch(url, { headers })
  return fetch(url, {
    method: "POST",
    headers,
    body: JSON.stringify({ code: `${codeOfSave}// ${prefix} ${count}` }),
  })
}
