import { realpathSync } from "node:fs"
import { fileURLToPath } from "node:url"
import type { BubblewrapMode, BubblewrapTools } from "./bubblewrap-command.ts"

/** What the operator wants. `auto` is the strongest level that works on this machine. */
export type WantedIsolation = "auto" | "bubblewrap" | "deno"

/** One way to isolate a process. Only trying it shows whether it works on this machine. */
export interface Isolation {
  readonly level: "bubblewrap" | "deno"
  /** Sentences for the operator. */
  readonly details: readonly string[]
  /** The paths of the programs that it needs, by their names. */
  readonly programs: Readonly<Record<string, string>>
  /** Deno, or Bun for a worker. */
  readonly program: string
  readonly setpriv: string | undefined
  /** Whether each sandbox is a user of its own. */
  readonly hasOwnUser: boolean
  /** A bubblewrap process is around each process. Undefined: only Deno's permissions isolate it. */
  readonly bubblewrap:
    | { readonly tools: BubblewrapTools; readonly mode: BubblewrapMode }
    | undefined
}

export const isRoot = process.getuid?.() === 0

const modeDetails: Readonly<Record<BubblewrapMode, string>> = {
  outside: "each sandbox is an unprivileged user of its own, in a user namespace",
  inside: "each sandbox is an unprivileged user of its own, without a user namespace",
  own: "sandboxes are the server's own user, in a user namespace",
}

/** The modes of bubblewrap for a sandbox with a user of its own, the strongest first. */
const sandboxModes: readonly BubblewrapMode[] = isRoot ? ["outside", "inside"] : ["own"]

/** The isolations worth trying, the strongest first, and why others are not. */
export function listIsolations(
  program: string,
  wanted: WantedIsolation,
  hasFilter: boolean,
  modes: readonly BubblewrapMode[] = sandboxModes,
): { isolations: Isolation[]; missing: string[] } {
  const missing: string[] = []
  const isolations = [
    ...(wanted === "deno" ? [] : listBubblewraps(realpathSync(program), hasFilter, modes, missing)),
    ...(wanted === "bubblewrap" ? [] : [createBare(realpathSync(program))]),
  ]
  return { isolations, missing }
}

function listBubblewraps(
  program: string,
  hasFilter: boolean,
  modes: readonly BubblewrapMode[],
  missing: string[],
): Isolation[] {
  if (process.platform !== "linux") missing.push("bubblewrap needs Linux")
  const bwrap = findBubblewrap()
  if (!bwrap && process.platform === "linux") missing.push("bubblewrap (bwrap) is not installed")
  const setpriv = Bun.which("setpriv") ?? undefined
  if (isRoot && !setpriv)
    missing.push(
      "the server is root, and setpriv (util-linux), which runs sandboxes as another user, is not installed",
    )
  if (missing.length > 0 || !bwrap) return []
  const tools: BubblewrapTools = {
    bwrap,
    setpriv,
    canDisableUserns: Bun.spawnSync([bwrap, "--help"]).stdout.includes("--disable-userns"),
    program,
    libraries: listLibraries(isRoot && setpriv ? [program, setpriv] : [program]),
    hasFilter,
  }
  const filter = hasFilter
    ? "only known system calls are allowed"
    : "system calls are not filtered on this kind of machine"
  return modes.map((mode) => ({
    level: "bubblewrap",
    details: [modeDetails[mode], filter],
    programs: { Deno: program, bubblewrap: bwrap, ...(setpriv && { setpriv }) },
    program,
    setpriv,
    hasOwnUser: mode !== "own",
    bubblewrap: { tools, mode },
  }))
}

/**
 * Isolation by Deno's permissions alone. A server that runs as root still gives each sandbox a user
 * of its own.
 */
function createBare(program: string): Isolation {
  const setpriv = Bun.which("setpriv") ?? undefined
  return {
    level: "deno",
    details: [
      "only Deno's permissions keep programs from this machine",
      isRoot
        ? "each sandbox is an unprivileged user of its own"
        : "sandboxes are the server's own user",
    ],
    programs: { Deno: program, ...(setpriv && { setpriv }) },
    program,
    setpriv,
    hasOwnUser: isRoot,
    bubblewrap: undefined,
  }
}

/**
 * Where `npm start` unpacks bubblewrap when it may not install it. scripts/setup/programs.mjs has
 * the same path.
 */
const unpackedPath = fileURLToPath(
  new URL("../../../../../.tools/bubblewrap/usr/bin/bwrap", import.meta.url),
)

/** The path of the installed bubblewrap, or of the unpacked one. */
export function findBubblewrap(): string | undefined {
  return Bun.which("bwrap") ?? Bun.which(unpackedPath) ?? undefined
}

/** The shared libraries of the programs, their loader included. */
function listLibraries(programs: readonly string[]): string[] {
  const text = Bun.spawnSync(["ldd", ...programs]).stdout.toString()
  return [...new Set([...text.matchAll(/(\/\S+) \(0x/g)].map((match) => match[1] ?? ""))]
}
