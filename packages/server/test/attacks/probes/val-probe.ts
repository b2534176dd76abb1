/** A val that tries one thing. */
export interface ValProbe {
  /** What it tries: the title of its test. */
  readonly tries: string
  /** The body of an async function of `request`; what it returns is what it got. */
  readonly code: string | ((targets: ProbeTargets) => string)
  /** The error that it must get instead, as `name: message`. */
  readonly denied?: RegExp
  /** Where there is something to get: exactly this, which is harmless. */
  readonly gets?: unknown
  /** Where it does not come to an answer: how its run ends, as `status name: message`. */
  readonly ends?: RegExp
}

/** What a val of an attacker may have found out about the machine. */
export interface ProbeTargets {
  /** The data folder of the server. */
  readonly dataDir: string
  /** Where the program is. */
  readonly program: string
  readonly baseUrl: string
  readonly port: number
  /** The folder of a neighbour's sandbox. */
  readonly neighbourFolder: string
}

/**
 * A module with several probes; the path of a request is the index of one of them. It responds with
 * what the probe got, or with the error that it got instead.
 */
export function toModule(probes: readonly Pick<ValProbe, "code">[], targets: ProbeTargets): string {
  const attempts = probes.map(
    ({ code }) => `async function (request) {
${typeof code === "string" ? code : code(targets)}
}`,
  )
  return `const attempts = [${attempts.join(", ")}]
export default async function (request) {
  try {
    const got = await attempts[Number(new URL(request.url).pathname.slice(1))](request)
    return Response.json({ got: got === undefined ? "nothing" : got })
  } catch (error) {
    return Response.json({ denied: error?.name + ": " + error?.message })
  }
}
`
}

/** Runs the body of an async function in a worker, in which the guest has replaced nothing. */
export function inWorker(code: string): string {
  const source = `(async () => { ${code} })().then((got) => postMessage({ got }), ({ name, message }) => postMessage({ name, message }))`
  return `const worker = new Worker("data:text/javascript," + encodeURIComponent(${JSON.stringify(source)}), { type: "module" })
const { got, name, message } = await new Promise((resolve, reject) => { worker.onmessage = ({ data }) => resolve(data); worker.onerror = (event) => { event.preventDefault(); reject(new Error(event.message)) } })
if (name !== undefined) throw Object.assign(new Error(message), { name })
return got`
}

/** How the guest words what Deno gives no permission for. */
export const noPermission = {
  read: /^NotFound: Cannot read ".*": no such file or directory; a val has only the files in /,
  write: /^NotCapable: Cannot write to ".*": a val can write only to /,
  net: /^NotCapable: Cannot use the network address "/,
  run: /^NotCapable: Cannot start ".*": a val cannot start programs or send signals/,
  ffi: /^NotCapable: Cannot load the library ".*": a val cannot load native code/,
  sys: /^NotCapable: Cannot use ".*": a val cannot see or change the machine/,
  import: /^TypeError: Requires import access to /,
} as const
