const programs = "a val cannot start programs"
const listening = "a val cannot listen; Deno.serve responds to requests to its web address"
const native = "a val cannot load native code"
const signals = "a val gets and sends no signals"
const links = "a val cannot create links"

/** What Deno has and vals have not, with the reason; its types say nothing of it. */
const reasons: Readonly<Record<string, string>> = {
  Command: programs,
  spawn: programs,
  spawnAndWait: programs,
  spawnAndWaitSync: programs,
  listen: listening,
  listenTls: listening,
  listenDatagram: "a val has no UDP; Deno.connect opens TCP connections",
  dlopen: native,
  UnsafeCallback: native,
  UnsafePointer: native,
  UnsafePointerView: native,
  addSignalListener: signals,
  removeSignalListener: signals,
  kill: signals,
  link: links,
  linkSync: links,
  symlink: links,
  symlinkSync: links,
  openKv: "a val has no Deno KV; std/blob and std/sqlite store data",
}

const declaration = new RegExp(
  `^  export (?:function|class) (${Object.keys(reasons).join("|")})\\b`,
)

/**
 * Marks what vals do not have as deprecated in the types of Deno: the editor strikes it through, and
 * `diagnose` finds its uses.
 */
export function markUnavailable(types: string): string {
  return types
    .split("\n")
    .map((line) => {
      const name = declaration.exec(line)?.[1]
      return name === undefined ? line : `  /** @deprecated ${toSentence(name)} */\n${line}`
    })
    .join("\n")
}

/** The warning for the use of a name of Deno, if vals do not have it. */
export function describeUnavailable(name: string): string | undefined {
  return Object.hasOwn(reasons, name) ? toSentence(name) : undefined
}

function toSentence(name: string): string {
  return `Cannot use Deno.${name} in a val: ${reasons[name]}`
}
