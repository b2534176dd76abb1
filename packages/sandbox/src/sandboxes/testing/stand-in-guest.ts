// A minimal guest for the tests of the sandbox: sends that it is warm, then does what
// the tests send to it. It runs on Deno, whose types are not those of the server.
interface Connection {
  read(into: Uint8Array): Promise<number | null>
  write(from: Uint8Array): Promise<number>
}
declare const Deno: {
  readonly args: readonly string[]
  connect(options: { transport: "unix"; path: string }): Promise<Connection>
  serve(
    options: { path: string; onListen(): void },
    handler: (request: Request) => Response | Promise<Response>,
  ): void
  exit(code: number): never
}

const [run = "", scratch = ""] = Deno.args
const control = await Deno.connect({ transport: "unix", path: `${run}/control.sock` })
const encoder = new TextEncoder()

async function write(text: string): Promise<void> {
  const bytes = encoder.encode(text)
  for (let sent = 0; sent < bytes.length; ) sent += await control.write(bytes.subarray(sent))
}

const say = (message: object) => write(`${JSON.stringify(message)}\n`)

Deno.serve({ path: `${run}/in.sock`, onListen() {} }, async (request) => {
  const code = await request.text()
  // A test sends code that may use these names. Its value is returned as JSON.
  const evaluate = new Function(
    "Deno",
    "say",
    "write",
    "run",
    "scratch",
    `return (async () => { ${code} })()`,
  )
  try {
    return Response.json({ value: (await evaluate(Deno, say, write, run, scratch)) ?? null })
  } catch (error) {
    return Response.json({
      error: error instanceof Error ? `${error.name}: ${error.message}` : String(error),
    })
  }
})
await say({ kind: "warm" })

const decoder = new TextDecoder()
const buffer = new Uint8Array(65_536)
let text = ""
for (let count = await control.read(buffer); count !== null; count = await control.read(buffer)) {
  text += decoder.decode(buffer.subarray(0, count), { stream: true })
  const lines = text.split("\n")
  text = lines.pop() ?? ""
  for (const line of lines) await hear(JSON.parse(line) as { kind: string; url?: string })
}
Deno.exit(0)

export {}

async function hear(message: { kind: string; url?: string }): Promise<void> {
  if (message.kind === "ping") await say({ kind: "pong" })
  if (message.kind !== "load") return
  try {
    await import(message.url ?? "")
    await say({ kind: "loaded", isCallable: true })
  } catch (error) {
    await say({ kind: "load_failed", error: { name: "Error", message: String(error) } })
  }
}
