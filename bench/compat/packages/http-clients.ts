import type { PackageCase } from "../package-case.ts"

/** Clients of HTTP and WebSockets. The server responds with the request it received. */
export const httpClients: readonly PackageCase[] = [
  {
    code: `import axios from "npm:axios@1.21.1"
export default async ({ http }) => {
  const { status, data } = await axios.post(http + "/a", { n: 1 }, { params: { q: 2 } })
  return [status, data.method, data.path, data.query, data.body]
}`,
    returns: [200, "POST", "/a", { q: "2" }, { n: 1 }],
    isInTests: true,
  },
  {
    code: `import axios from "npm:axios@1.21.1"
import { Agent } from "node:https"
export default async ({ https, ca }) => {
  const { data } = await axios.get(https + "/secure", { httpsAgent: new Agent({ ca, keepAlive: true }) })
  return [data.method, data.path]
}`,
    returns: ["GET", "/secure"],
  },
  {
    code: `import got from "npm:got@16.1.0"
export default async ({ http }) => {
  const { method, body } = await got.put(http + "/b", { json: { n: 1 }, retry: { limit: 0 } }).json()
  return [method, body]
}`,
    returns: ["PUT", { n: 1 }],
    isInTests: true,
  },
  {
    code: `import { Agent, request } from "npm:undici@8.12.4"
export default async ({ http }) => {
  const dispatcher = new Agent()
  const { statusCode, body } = await request(http + "/c", { dispatcher })
  const { path } = await body.json()
  await dispatcher.close()
  return [statusCode, path]
}`,
    returns: [200, "/c"],
    isInTests: true,
  },
  {
    code: `import fetch, { Headers } from "npm:node-fetch@3.3.2"
export default async ({ http }) => {
  const response = await fetch(http + "/d", { method: "POST", body: "text", headers: new Headers({ "x-a": "1" }) })
  const { body, headers } = await response.json()
  return [response.ok, body, headers["x-a"]]
}`,
    returns: [true, "text", "1"],
  },
  {
    code: `import ky from "npm:ky@2.1.0"
export default async ({ http }) => (await ky.post(http + "/e", { json: { n: 1 } }).json()).body`,
    returns: { n: 1 },
  },
  {
    code: `import superagent from "npm:superagent@10.4.2"
export default async ({ http }) => {
  const { body } = await superagent.post(http + "/f").send({ n: 1 }).query({ q: 2 })
  return [body.path, body.query, body.body]
}`,
    returns: ["/f", { q: "2" }, { n: 1 }],
  },
  {
    code: `import FormData from "npm:form-data@4.0.6"
import { request } from "node:http"
export default ({ http }) => new Promise((resolve, reject) => {
  const form = new FormData()
  form.append("name", "Ada")
  const sent = request(http + "/form", { method: "POST", headers: form.getHeaders() }, async (response) => {
    let text = ""
    for await (const chunk of response) text += chunk
    resolve(JSON.parse(text).body.includes("Ada"))
  })
  sent.on("error", reject)
  form.pipe(sent)
})`,
    returns: true,
  },
  {
    code: `import WebSocket from "npm:ws@8.22.2"
export default ({ ws }) => new Promise((resolve, reject) => {
  const socket = new WebSocket(ws)
  socket.on("open", () => socket.send("hi"))
  socket.on("message", (data) => { resolve(String(data)); socket.close() })
  socket.on("error", reject)
})`,
    returns: "echo hi",
    isInTests: true,
  },
  {
    code: `import WebSocket from "npm:ws@8.22.2"
export default ({ wss, ca }) => new Promise((resolve, reject) => {
  const socket = new WebSocket(wss, { ca })
  socket.on("open", () => socket.send("hi"))
  socket.on("message", (data) => { resolve(String(data)); socket.close() })
  socket.on("error", reject)
})`,
    returns: "echo hi",
  },
  {
    code: `import { io } from "npm:socket.io-client@4.8.4"
export default ({ http }) => new Promise((resolve) => {
  const socket = io(http, { transports: ["polling"], reconnection: false, timeout: 2000 })
  // The server is not one of Socket.IO: its response is refused by the parser of the client.
  socket.on("connect_error", (error) => { socket.close(); resolve(error.message) })
})`,
    returns: /server error|xhr poll error|parse/,
  },
  {
    code: `import puppeteer from "npm:puppeteer-core@25.16.0"
export default ({ ws }) => puppeteer.connect({ browserWSEndpoint: ws.replace("socket", "silent"), protocolTimeout: 500 }).then(
  () => "connected",
  // The server is not a browser: it does not respond to the first command.
  (error) => error.message,
)`,
    returns: /timed out/,
  },
  {
    code: `import { GraphQLClient, gql } from "npm:graphql-request@7.4.0"
export default ({ http }) => new GraphQLClient(http + "/graphql").request(gql\`{ hello }\`)`,
    returns: { hello: "world" },
  },
]
