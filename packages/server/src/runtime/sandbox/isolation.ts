import { realpathSync } from "node:fs"
import { AppError } from "../../domain/app-error.ts"
import {
  type BubblewrapMode,
  type BubblewrapTools,
  insideCa,
  insideMaps,
  insidePaths,
  toBubblewrapCommand,
  toInsidePaths,
} from "./commands/bubblewrap-command.ts"
import {
  type GuestImports,
  type GuestPaths,
  toDenoCommand,
  toDenoEnvironment,
} from "./commands/deno-command.ts"
import { findBubblewrap } from "./commands/find-bubblewrap.ts"
import {
  type Tool,
  type ToolPaths,
  toToolCommand,
  toToolEnvironment,
} from "./commands/tool-command.ts"
import type { SandboxFolder } from "./sandbox-folder.ts"
import type { SandboxLimits } from "./sandbox-limits.ts"

/** One way to isolate a guest. Only trying it shows whether it works on this machine. */
export interface Isolation {
  readonly level: "bubblewrap" | "deno"
  /** Sentences for the operator. */
  readonly details: readonly string[]
  /** The paths of the programs that it needs, by their names. */
  readonly programs: Readonly<Record<string, string>>
  /** Whether each sandbox is a user of its own. */
  readonly hasOwnUser: boolean
  /** Whether a bubblewrap process is around the guest's, which reports its process id. */
  readonly hasOuterProcess: boolean
  toCommand(sandbox: { readonly folder: SandboxFolder; readonly uid: number | undefined }): string[]
  toEnvironment(folder: SandboxFolder): Record<string, string>
  /** The same for a tool instead of the guest. */
  toToolLaunch(place: ToolSpec): {
    readonly command: string[]
    readonly environment: Record<string, string>
  }
}

/** One launch of a tool. */
export interface ToolSpec {
  readonly folder: SandboxFolder
  readonly uid: number | undefined
  readonly tool: Tool
  readonly limits: SandboxLimits
}

/** What all isolations need. */
export interface IsolationParts {
  readonly denoPath: string
  /** The main module of the guest. */
  readonly guestPath: string
  /** The guest, which the main module evaluates. */
  readonly scriptPath: string
  /** The paths of files of the system, by their paths in the sandbox. */
  readonly systemFiles: Readonly<Record<string, string>>
  readonly imports: GuestImports
  readonly limits: SandboxLimits
  readonly hasFilter: boolean
}

/** The isolations worth trying, the strongest first, and why others are not. */
export function listIsolations(
  parts: IsolationParts,
  wanted: "auto" | "bubblewrap" | "deno",
): { isolations: Isolation[]; missing: string[] } {
  const missing: string[] = []
  const isolations = [
    ...(wanted === "deno" ? [] : listBubblewraps(parts, missing)),
    ...(wanted === "bubblewrap" ? [] : [createBareDeno(parts)]),
  ]
  return { isolations, missing }
}

const isRoot = process.getuid?.() === 0

function listBubblewraps(parts: IsolationParts, missing: string[]): Isolation[] {
  if (process.platform !== "linux") missing.push("bubblewrap needs Linux")
  const bwrap = findBubblewrap()
  if (!bwrap && process.platform === "linux") missing.push("bubblewrap (bwrap) is not installed")
  const setpriv = Bun.which("setpriv") ?? undefined
  if (isRoot && !setpriv)
    missing.push(
      "the server is root, and setpriv (util-linux), which runs sandboxes as another user, is not installed",
    )
  if (missing.length > 0 || !bwrap) return []
  const deno = realpathSync(parts.denoPath)
  const tools: BubblewrapTools = {
    bwrap,
    setpriv,
    canDisableUserns: Bun.spawnSync([bwrap, "--help"]).stdout.includes("--disable-userns"),
    program: deno,
    libraries: listLibraries(isRoot && setpriv ? [deno, setpriv] : [deno]),
    hasFilter: parts.hasFilter,
  }
  const modes: BubblewrapMode[] = isRoot ? ["outside", "inside"] : ["own"]
  return modes.map((mode) => createBubblewrap(parts, tools, mode))
}

const modeDetails: Readonly<Record<BubblewrapMode, string>> = {
  outside: "each sandbox is an unprivileged user of its own, in a user namespace",
  inside: "each sandbox is an unprivileged user of its own, without a user namespace",
  own: "sandboxes are the server's own user, in a user namespace",
}

function createBubblewrap(
  parts: IsolationParts,
  tools: BubblewrapTools,
  mode: BubblewrapMode,
): Isolation {
  const caPath = insideCa in parts.systemFiles ? insideCa : undefined
  const command = toDenoCommand(insidePaths, parts.imports, parts.limits, true, caPath)
  const environment = toDenoEnvironment(insidePaths, true)
  const ofDeno = { program: insidePaths.deno, isReported: true, isFirst: true }
  const maps = { [insideMaps]: parts.systemFiles[insideMaps] ?? "" }
  const filter = tools.hasFilter
    ? "dangerous system calls are refused"
    : "system calls are not filtered on this kind of machine"
  return {
    level: "bubblewrap",
    details: [modeDetails[mode], filter],
    programs: {
      Deno: tools.program,
      bubblewrap: tools.bwrap,
      ...(tools.setpriv ? { setpriv: tools.setpriv } : {}),
    },
    hasOwnUser: mode !== "own",
    hasOuterProcess: true,
    toCommand({ folder, uid }) {
      const readable = {
        ...parts.systemFiles,
        [insidePaths.guest]: parts.guestPath,
        [insidePaths.script]: parts.scriptPath,
        [insidePaths.denoDir]: folder.deno,
      }
      const writable = { [insidePaths.run]: folder.run }
      const { scratchBytesMax } = parts.limits
      return toBubblewrapCommand(
        tools,
        mode,
        { uid, environment, readable, writable, scratchBytesMax, ...ofDeno },
        command,
      )
    },
    // bubblewrap sets the guest's environment itself.
    toEnvironment: () => ({}),
    toToolLaunch({ folder, uid, tool, limits }) {
      const paths = toInsidePaths(tool.helpers)
      const helpers = Object.entries(tool.helpers).map(([name, outside]) => [
        paths.helpers[name],
        outside,
      ])
      // The socket in the run folder exists already, so the tool need not write there.
      const readable = {
        ...maps,
        [paths.program]: tool.program,
        [paths.run]: folder.run,
        ...Object.fromEntries(helpers),
      }
      const box = {
        uid,
        environment: toToolEnvironment(paths),
        readable,
        writable: {},
        scratchBytesMax: limits.scratchBytesMax,
        ...ofDeno,
      }
      return {
        command: toBubblewrapCommand(tools, mode, box, toToolCommand(paths, tool, limits)),
        environment: {},
      }
    },
  }
}

/**
 * Isolation by Deno's permissions alone. A server that runs as root still gives each sandbox a user
 * of its own.
 */
function createBareDeno(parts: IsolationParts): Isolation {
  const setpriv = Bun.which("setpriv")
  const deno = realpathSync(parts.denoPath)
  const toPaths = ({ run, deno: denoDir, scratch }: SandboxFolder): GuestPaths => ({
    deno,
    guest: parts.guestPath,
    script: parts.scriptPath,
    run,
    denoDir,
    scratch,
  })
  return {
    level: "deno",
    details: [
      "only Deno's permissions keep vals from this machine",
      isRoot
        ? "each sandbox is an unprivileged user of its own"
        : "sandboxes are the server's own user",
    ],
    programs: { Deno: deno, ...(setpriv ? { setpriv } : {}) },
    hasOwnUser: isRoot,
    hasOuterProcess: false,
    toCommand: ({ folder, uid }) => [
      ...toPrefix(setpriv, uid),
      ...toDenoCommand(toPaths(folder), parts.imports, parts.limits, false),
    ],
    toEnvironment: (folder) => toDenoEnvironment(toPaths(folder), false),
    toToolLaunch({ folder, uid, tool, limits }) {
      const { program, helpers } = tool
      const paths: ToolPaths = { deno, program, run: folder.run, scratch: folder.scratch, helpers }
      return {
        command: [...toPrefix(setpriv, uid), ...toToolCommand(paths, tool, limits)],
        environment: toToolEnvironment(paths),
      }
    },
  }
}

/** A command prefix that switches to the sandbox's user, and kills the process with the server. */
function toPrefix(setpriv: string | null, uid: number | undefined): string[] {
  if (isRoot && !setpriv)
    throw new AppError(
      "sandbox_unavailable",
      "Cannot start a sandbox: the server is root, and setpriv (util-linux) is not installed",
    )
  const user = [
    `--reuid=${uid}`,
    `--regid=${uid}`,
    "--clear-groups",
    "--no-new-privs",
    "--inh-caps=-all",
    "--bounding-set=-all",
  ]
  // Without `--pdeathsig` (Linux only) a guest has to notice by itself that its server was killed.
  return setpriv ? [setpriv, ...(isRoot ? user : []), "--pdeathsig=KILL"] : []
}

/** The shared libraries of the programs, their loader included. */
export function listLibraries(programs: readonly string[]): string[] {
  const text = Bun.spawnSync(["ldd", ...programs]).stdout.toString()
  return [...new Set([...text.matchAll(/(\/\S+) \(0x/g)].map((match) => match[1] ?? ""))]
}
