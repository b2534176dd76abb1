// The least that a gateway can do: it forwards every request to one socket and records nothing.
const unix = process.env.BARE_SOCKET ?? ""

const server = Bun.serve({
  port: 0,
  hostname: "127.0.0.1",
  fetch: (request) => fetch(request, { unix }),
})
console.log(`listens at http://127.0.0.1:${server.port}`)
