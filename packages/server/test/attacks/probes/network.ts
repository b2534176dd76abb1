import { noPermission, type ValProbe } from "./val-probe.ts"

/** The machine of the tests has no name server. */
const noName = /^Error: Cannot look up "example\.com": example\.com (cannot be found|was not found)/
const noPath = /^NotCapable: Cannot connect to "/
const noPathInNode = /^Error: Cannot connect to "\/run\/val\/\w+\.sock": /
const noDatagrams = /^Error: Cannot use UDP: /
const noFetch = /^TypeError: (fetch failed|error sending request)/
const { read } = noPermission

/** Waits for the first of two events of Node. */
function firstOf(good: string, bad = "error"): string {
  return `return await new Promise((resolve, reject) => { thing.once("${good}", () => resolve("${good}")); thing.once("${bad}", reject) })`
}

/**
 * Every connection that bypasses the egress socket: to the API, the internet, neighbours, the
 * host.
 */
export const networkProbes: readonly ValProbe[] = [
  {
    tries: "to connect to the API over TCP",
    code: ({ port }) =>
      `return (await Deno.connect({ hostname: "127.0.0.1", port: ${port} })).remoteAddr`,
    denied: /^NotCapable: Cannot connect to "127\.0\.0\.1:\d+": /,
  },
  {
    tries: "to connect to the API by the name localhost",
    code: ({ port }) =>
      `return (await Deno.connect({ hostname: "localhost", port: ${port} })).remoteAddr.hostname`,
    // The requests on it are forwarded as those of fetch are.
    gets: "127.0.0.1",
  },
  {
    tries: "to connect to the API over IPv6",
    code: ({ port }) =>
      `return (await Deno.connect({ hostname: "::1", port: ${port} })).remoteAddr`,
    denied: /^NotCapable: Cannot connect to "\[::1\]:\d+": /,
  },
  {
    tries: "to connect to 0.0.0.0",
    code: ({ port }) =>
      `return (await Deno.connect({ hostname: "0.0.0.0", port: ${port} })).remoteAddr`,
    denied: /^NotCapable: Cannot connect to "0\.0\.0\.0:\d+": /,
  },
  {
    tries: "to connect to a machine in the internet",
    code: `return (await Deno.connect({ hostname: "1.1.1.1", port: 53 })).remoteAddr`,
    denied: /^NotCapable: Cannot connect to "1\.1\.1\.1:53": port 53 /,
  },
  {
    tries: "to connect to the metadata of a cloud",
    code: `return (await Deno.connect({ hostname: "169.254.169.254", port: 80 })).remoteAddr`,
    denied: /^NotCapable: Cannot connect to "169\.254\.169\.254:80": /,
  },
  {
    tries: "to connect with TLS",
    code: `return (await Deno.connectTls({ hostname: "example.com", port: 443 })).remoteAddr`,
    denied: /^Error: Cannot (connect to|look up) "example\.com/,
  },
  {
    tries: "to open a datagram socket",
    code: `return Deno.listenDatagram({ transport: "udp", port: 0 }).addr`,
    denied: /^TypeError: Deno\.listenDatagram is not a function/,
  },
  {
    tries: "to connect to a second control socket",
    code: `return (await Deno.connect({ transport: "unix", path: "/run/val/control.sock" })).localAddr`,
    denied: noPath,
  },
  {
    tries: "to connect to its own socket",
    code: `return (await Deno.connect({ transport: "unix", path: "/run/val/in.sock" })).localAddr`,
    denied: noPath,
  },
  {
    tries: "to connect to the egress socket",
    code: `return (await Deno.connect({ transport: "unix", path: "/run/val/out.sock" })).localAddr`,
    denied: noPath,
  },
  {
    tries: "to connect to the egress socket by another path",
    code: `return (await Deno.connect({ transport: "unix", path: "/tmp/../run/./val//out.sock" })).localAddr`,
    denied: noPath,
  },
  {
    tries: "to connect to the egress socket by a link",
    code: `Deno.symlinkSync("/run/val/out.sock", "/tmp/egress.sock"); return (await Deno.connect({ transport: "unix", path: "/tmp/egress.sock" })).localAddr`,
    denied: /^NotCapable: Cannot create a link: /,
  },
  {
    tries: "to connect to the egress socket as Node does",
    code: `const thing = (await import("node:net")).connect("/run/val/out.sock"); ${firstOf("connect")}`,
    denied: noPathInNode,
  },
  {
    tries: "to send HTTP to the egress socket as Node does",
    code: `const thing = (await import("node:http")).get({ socketPath: "/run/val/out.sock", path: "http://127.0.0.1/" }); ${firstOf("response")}`,
    denied: noPathInNode,
  },
  {
    tries: "to listen on the egress socket",
    code: `return Deno.listen({ transport: "unix", path: "/run/val/out.sock" }).addr`,
    denied: /^NotCapable: Cannot listen on "/,
  },
  {
    tries: "to connect to the socket of a neighbour",
    code: ({ neighbourFolder }) =>
      `return (await Deno.connect({ transport: "unix", path: "${neighbourFolder}/run/in.sock" })).localAddr`,
    denied: /^(NotCapable: Cannot connect to "|NotFound: No such file)/,
  },
  {
    tries: "to connect to the egress socket of a neighbour",
    code: ({ neighbourFolder }) =>
      `return (await Deno.connect({ transport: "unix", path: "${neighbourFolder}/run/out.sock" })).localAddr`,
    denied: /^(NotCapable: Cannot connect to "|NotFound: No such file)/,
  },
  {
    tries: "to connect to an abstract Unix socket",
    code: `return (await Deno.connect({ transport: "unix", path: "\\0/tmp/.X11-unix/X0" })).localAddr`,
    denied: /^(NotCapable: Cannot connect to "|ConnectionRefused: )/,
  },
  {
    tries: "to connect to the socket of Docker",
    code: `return (await Deno.connect({ transport: "unix", path: "/var/run/docker.sock" })).localAddr`,
    denied: noPath,
  },
  {
    tries: "to connect over vsock",
    code: `return (await Deno.connect({ transport: "vsock", cid: 2, port: 80 })).localAddr`,
    denied: /^TypeError: Cannot connect over vsock: /,
  },
  {
    tries: "to ask a name server",
    code: `return await Deno.resolveDns("example.com", "A")`,
    denied: /^Error: Cannot look up "example\.com": /,
  },
  {
    tries: "to ask a name server of its choice",
    code: `return await Deno.resolveDns("example.com", "TXT", { nameServer: { ipAddr: "1.1.1.1", port: 53 } })`,
    denied: /^Error: Cannot look up "example\.com" at a name server: /,
  },
  {
    tries: "to read what a name server says about this machine",
    code: `return await Deno.resolveDns("a.localhost", "TXT")`,
    denied: /^NotCapable: Cannot look up TXT of "a\.localhost": /,
  },
  {
    tries: "to look a name up as Node does",
    code: `return await (await import("node:dns/promises")).lookup("example.com")`,
    denied: noName,
  },
  {
    tries: "to resolve a name as Node does",
    code: `return await (await import("node:dns/promises")).resolve4("example.com")`,
    denied: noName,
  },
  {
    tries: "to ask the API who it is without saying so",
    code: ({ baseUrl }) => `return (await fetch("${baseUrl}/v1/me")).status`,
    gets: 401,
  },
  {
    tries: "to change something through the API with the token of its run",
    code: ({ baseUrl }) =>
      `return (await fetch("${baseUrl}/v1/me/secrets/MINE", { method: "PUT", headers: { authorization: "Bearer " + Deno.env.get("HAMLET_TOKEN") }, body: '{"value":"x"}' })).status`,
    gets: 403,
  },
  {
    tries: "to fetch from where nobody is",
    code: `return (await fetch("https://nowhere.invalid")).status`,
    denied: /^TypeError: Cannot fetch "/,
  },
  {
    tries: "to fetch through a proxy that it names",
    code: `const client = Deno.createHttpClient({ proxy: { url: "http://127.0.0.1:3128" } }); return (await fetch("http://example.com", { client })).status`,
    denied: noFetch,
  },
  {
    tries: "to fetch through its own control socket",
    code: `const client = Deno.createHttpClient({ proxy: { transport: "unix", path: "/run/val/control.sock" } }); return (await fetch("http://localhost/", { client })).status`,
    denied: read,
  },
  {
    tries: "to fetch through its own socket",
    code: `const client = Deno.createHttpClient({ proxy: { transport: "unix", path: "/run/val/in.sock" } }); return (await fetch("http://localhost/", { client })).status`,
    denied: read,
  },
  {
    tries: "to fetch through a proxy from the environment",
    code: `try { Deno.env.set("HTTP_PROXY", "unix:/run/val/in.sock") } catch {} return (await fetch("http://nowhere.invalid/")).status`,
    denied: /^TypeError: Cannot fetch "http:\/\/nowhere\.invalid\/": /,
  },
  {
    tries: "to fetch past the proxy of the environment",
    code: ({ port }) =>
      `try { Deno.env.set("NO_PROXY", "*"); Deno.env.delete("HTTP_PROXY") } catch {} return (await fetch("http://127.0.0.1:${port}/", { client: Deno.createHttpClient({}) })).status`,
    denied: /^TypeError: (fetch failed|error sending request|Cannot fetch ")/,
  },
  {
    tries: "to open a WebSocket to the API by its address",
    code: ({ port }) =>
      `return await new Promise((resolve, reject) => { const socket = new WebSocket("ws://127.0.0.1:${port}/"); socket.onopen = () => resolve("open"); socket.onerror = (event) => reject(event.error ?? new Error(event.message)) })`,
    denied: /^NetworkError: .*403/,
  },
  {
    tries: "to open a stream of WebSocket messages",
    code: ({ port }) =>
      `return (await new WebSocketStream("ws://127.0.0.1:${port}/").opened).protocol`,
    denied: /^ReferenceError: WebSocketStream is not defined/,
  },
  {
    tries: "to listen to events of the API",
    code: ({ baseUrl }) =>
      `return await new Promise((resolve, reject) => { const source = new EventSource("${baseUrl}/v1/vals"); source.onopen = () => resolve("open"); source.onerror = () => { source.close(); reject(new Error("refused")) } })`,
    denied: /^Error: refused/,
  },
  {
    tries: "to open a session of WebTransport",
    code: `return await new WebTransport("https://example.com:4433").ready`,
    denied: /^(ReferenceError: WebTransport is not defined|WebTransportError)/,
  },
  {
    tries: "to open an endpoint of QUIC",
    code: `return new Deno.QuicEndpoint().addr`,
    denied: /^TypeError: Deno\.QuicEndpoint is not a constructor/,
  },
  {
    tries: "to connect as Node does",
    code: ({ port }) =>
      `const thing = (await import("node:net")).connect(${port}, "127.0.0.1"); ${firstOf("connect")}`,
    denied: /^Error: Cannot connect to "127\.0\.0\.1:\d+": /,
  },
  {
    tries: "to connect to a Unix socket as Node does",
    code: `const thing = (await import("node:net")).connect("/run/val/control.sock"); ${firstOf("connect")}`,
    denied: noPathInNode,
  },
  {
    tries: "to get from the API as Node does",
    code: ({ baseUrl }) =>
      `const thing = (await import("node:http")).get("${baseUrl}/v1/vals"); ${firstOf("response")}`,
    gets: "response",
  },
  {
    tries: "to get from the internet as Node does",
    code: `const thing = (await import("node:https")).get("https://example.com/"); ${firstOf("response")}`,
    denied: noName,
  },
  {
    tries: "to speak HTTP/2 with the API as Node does",
    code: ({ baseUrl }) =>
      `const thing = (await import("node:http2")).connect("${baseUrl}"); ${firstOf("remoteSettings")}`,
    denied: /^Error: /,
  },
  {
    tries: "to speak TLS as Node does",
    code: `const thing = (await import("node:tls")).connect(443, "example.com"); ${firstOf("secureConnect")}`,
    denied: noName,
  },
  {
    tries: "to send a datagram as Node does",
    code: `const thing = (await import("node:dgram")).createSocket("udp4"); thing.send("x", 53, "1.1.1.1", (error) => thing.emit(error ? "error" : "sent", error)); ${firstOf("sent")}`,
    denied: noDatagrams,
  },
  {
    tries: "to join a multicast group",
    code: `const thing = (await import("node:dgram")).createSocket("udp4"); thing.bind(0, () => { try { thing.addMembership("224.0.0.251"); thing.emit("joined") } catch (error) { thing.emit("error", error) } }); ${firstOf("joined")}`,
    denied: noDatagrams,
  },
  {
    tries: "to import a module from the internet",
    code: `return Object.keys(await import("https://esm.example.com/" + "evil.js"))`,
    denied: /^TypeError: (Requires import access to "esm\.example\.com:443"|.*not found in cache)/i,
  },
  {
    tries: "to import an answer of the API",
    code: ({ baseUrl }) =>
      `return Object.keys((await import("${baseUrl}/openapi.json", { with: { type: "json" } })).default)`,
    denied: /^TypeError: .*(not found in cache|Cannot import)/is,
  },
  {
    tries: "to import a val's answer from its web address",
    code: `return Object.keys(await import(request.url))`,
    denied: /^TypeError: (Requires import access to |.*not found in cache|.*Cannot import)/is,
  },
  // Concatenated, so that the scan at save does not find them.
  {
    tries: "to import from npm while it runs",
    code: `return Object.keys(await import("npm:" + "left-pad"))`,
    denied: /^TypeError: /,
  },
  {
    tries: "to import from JSR while it runs",
    code: `return Object.keys(await import("jsr:" + "@std/assert"))`,
    denied: /^TypeError: /,
  },
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
