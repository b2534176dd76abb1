import { hurried, workerStarter } from "@hamlet/guest/protocol"
import { insideEmits } from "../../emits/emit-folder.ts"
import { type SharedFile, stackMap } from "../launch/bubblewrap-command.ts"
import type { Profile, SeenPaths } from "../launch/launcher.ts"
import { toPackagesFolder } from "../packages/package-folders.ts"
import type { SandboxFolder } from "../sandbox-folder.ts"
import type { SandboxLimits } from "../sandbox-limits.ts"

/** What the processes of all programs share. */
export interface ProgramParts {
  /** The main module of the guest. */
  readonly guestPath: string
  /** The main module of the process that makes the code cache. */
  readonly compilerPath: string
  /** The guest, which the main module evaluates. */
  readonly scriptPath: string
  readonly systemFiles: readonly SharedFile[]
  /** The hosts from which the guest may import modules. */
  readonly importHosts: readonly string[]
  /** The module with which it warms up. */
  readonly exampleUrl: string
  readonly limits: SandboxLimits
}

/** The cores that a program sees. packages/guest/src/globals/machine.ts has the same number. */
const cores = [0, 1]
/** The certificates of HAMLET_EGRESS_CA, if there are any. */
export const insideCa = "/etc/ssl/hamlet.pem"

/**
 * Files of the system that a guest sees: the same on every machine. node:os reads them when a program
 * asks for its user and its cores.
 */
export const systemFiles: Readonly<Record<string, string>> = {
  [stackMap.inside]: stackMap.content,
  "/etc/passwd": "val:x:1000:1000:val:/tmp:/bin/sh\n",
  "/proc/cpuinfo": cores.map((core) => `processor\t: ${core}\nmodel name\t: val\n\n`).join(""),
  "/proc/stat": ["", ...cores].map((core) => `cpu${core} 0 0 0 0 0 0 0 0 0 0\n`).join(""),
}

type Name = "guest" | "script" | "denoDir" | "run"

/** How the process of a program starts. */
export interface ProgramStart {
  /** A run waits for it, so it does not warm up. */
  readonly isHurried: boolean
  /** The process makes the code cache: it gets no program, and may write to Deno's cache. */
  readonly isCompiling: boolean
  /** Whether there is a code cache. */
  readonly hasCodeCache: boolean
}

/** What the process of a program sees. */
export function toProgramProfile(
  parts: ProgramParts,
  folder: SandboxFolder,
  start: ProgramStart,
): Profile<Name> {
  return {
    program: "/deno",
    files: {
      guest: {
        inside: "/guest.js",
        outside: start.isCompiling ? parts.compilerPath : parts.guestPath,
      },
      script: { inside: "/guest-script.js", outside: parts.scriptPath },
      denoDir: { inside: "/deno-dir", outside: folder.deno, isWritable: start.isCompiling },
      run: { inside: "/run/val", outside: folder.run, isWritable: true },
    },
    systemFiles: [
      ...parts.systemFiles,
      { inside: insideEmits.inside, outside: "", emptyBytesMax: insideEmits.bytesMax },
    ],
    toCommand: (paths, isBoxed) => [
      ...toDenoCommand(parts, paths, isBoxed, start.hasCodeCache),
      ...(start.isHurried ? [hurried] : []),
    ],
    toEnvironment: toDenoEnvironment,
    hasChildren: false,
  }
}

/**
 * The command that starts the guest. Permissions are allow-lists, because a deny-list allows what
 * it forgets. Programs and native libraries are never allowed. In bubblewrap, the whole network is
 * allowed: the sandbox has no network except the proxy, which decides. Without it, only the two
 * sockets are allowed.
 */
function toDenoCommand(
  { systemFiles: provided, importHosts, exampleUrl, limits }: ProgramParts,
  { program, guest, script, run, denoDir, scratch }: SeenPaths<Name>,
  isBoxed: boolean,
  hasCodeCache: boolean,
): string[] {
  // Permissions of its own: the guest gives up those for the folder.
  const sockets = isBoxed ? [`${run}/tcp.sock`] : []
  const starter = isBoxed ? [workerStarter] : []
  const packages = toPackagesFolder(denoDir)
  const hasCa = isBoxed && provided.some(({ inside }) => inside === insideCa)
  return [
    program,
    "run",
    "--quiet",
    "--no-prompt",
    // Without these two, Deno searches all parent folders for files, which takes longer than
    // everything else.
    "--no-config",
    "--no-lock",
    "--no-npm",
    "--cached-only",
    ...(hasCodeCache ? [] : ["--no-code-cache"]),
    // Files of packages are CommonJS unless their package.json says otherwise, as in Node. Deno then
    // reads every folder called node_modules, which is no more than there is in bubblewrap.
    ...(isBoxed ? ["--node-modules-dir=manual"] : []),
    // Otherwise the signal of a request aborts after the response, and a program that uses it gets a
    // warning in its logs.
    "--unstable-no-legacy-abort",
    // Imports of files as bytes; those as text need no flag.
    "--unstable-raw-imports",
    ...(hasCa ? [`--cert=${insideCa}`] : []),
    "--allow-env",
    // In bubblewrap these read `systemFiles`.
    ...(isBoxed ? ["--allow-sys=ca,cpus,homedir,userInfo"] : []),
    isBoxed ? "--allow-net" : `--allow-net=unix:${run}/control.sock,unix:${run}/in.sock`,
    `--allow-read=${[run, ...sockets, ...starter, scratch, packages, script].join(",")}`,
    `--allow-write=${[run, ...sockets, scratch].join(",")}`,
    `--allow-import=${importHosts.join(",")}`,
    toHeapFlag(limits.heapBytesMax),
    guest,
    run,
    scratch,
    exampleUrl,
    packages,
    script,
  ]
}

/** The flag of Deno that limits the JavaScript heap. */
export function toHeapFlag(heapBytesMax: number): string {
  return `--v8-flags=--max-old-space-size=${Math.max(1, Math.floor(heapBytesMax / 1024 ** 2))}`
}

/**
 * For the C library. By default it has a heap for each thread, and returns its memory whenever Deno
 * has imported a module. Two heaps that keep some memory make the first response of a program 5 %
 * faster.
 */
const allocation = { MALLOC_ARENA_MAX: "2", MALLOC_TOP_PAD_: String(1024 * 1024) }

function toDenoEnvironment(
  { denoDir, run, scratch }: SeenPaths<Name>,
  isBoxed: boolean,
): Record<string, string> {
  const proxy = `unix:${run}/out.sock`
  const proxies = isBoxed ? { HTTP_PROXY: proxy, HTTPS_PROXY: proxy } : {}
  return {
    DENO_DIR: denoDir,
    // Without bubblewrap it cannot write there. It would retry five times, which takes 150 ms.
    DENO_EMIT_CACHE_MODE: isBoxed ? "normal" : "disable",
    DENO_NO_UPDATE_CHECK: "1",
    HOME: scratch,
    NO_COLOR: "1",
    ...allocation,
    ...proxies,
  }
}
