import { workerStarter } from "@hamlet/guest/protocol"
import { toPackagesFolder } from "../packages/package-files.ts"
import type { SandboxLimits } from "../sandbox-limits.ts"

/** Paths as the guest sees them. */
export interface GuestPaths {
  readonly deno: string
  /** The main module, and the script that it evaluates. */
  readonly guest: string
  readonly script: string
  readonly run: string
  readonly denoDir: string
  readonly scratch: string
}

/** Which modules the guest may import. */
export interface GuestImports {
  readonly hosts: readonly string[]
  /** The module with which it warms up. */
  readonly exampleUrl: string
}

/**
 * The command that starts the guest. Permissions are allow-lists, because a deny-list allows what
 * it forgets. Programs and native libraries are never allowed. With a proxy, the whole network is
 * allowed: the sandbox has no network except the proxy, which decides. Without one, only the two
 * sockets are allowed.
 */
export function toDenoCommand(
  paths: GuestPaths,
  imports: GuestImports,
  limits: SandboxLimits,
  hasProxy: boolean,
  /** Certificates that TLS connections of the val trust in addition to those of Deno. */
  caPath?: string,
): string[] {
  const { run, scratch } = paths
  // Permissions of its own: the guest gives up those for the folder.
  const sockets = hasProxy ? [`${run}/tcp.sock`] : []
  const starter = hasProxy ? [workerStarter] : []
  const packages = toPackagesFolder(paths.denoDir)
  const heapMegabytes = Math.max(1, Math.floor(limits.heapBytesMax / 1024 ** 2))
  return [
    paths.deno,
    "run",
    "--quiet",
    "--no-prompt",
    // Without these two, Deno searches all parent folders for files, which takes longer than
    // everything else.
    "--no-config",
    "--no-lock",
    "--no-npm",
    "--cached-only",
    "--no-code-cache",
    // Otherwise the signal of a request aborts after the response, and a val that uses it gets a
    // warning in its logs.
    "--unstable-no-legacy-abort",
    ...(caPath === undefined ? [] : [`--cert=${caPath}`]),
    "--allow-env",
    // In bubblewrap these read the files that it provides; see system-files.ts.
    ...(hasProxy ? ["--allow-sys=ca,cpus,homedir,userInfo"] : []),
    hasProxy ? "--allow-net" : `--allow-net=unix:${run}/control.sock,unix:${run}/in.sock`,
    `--allow-read=${[run, ...sockets, ...starter, scratch, packages, paths.script].join(",")}`,
    `--allow-write=${[run, ...sockets, scratch].join(",")}`,
    `--allow-import=${imports.hosts.join(",")}`,
    `--v8-flags=--max-old-space-size=${heapMegabytes}`,
    paths.guest,
    run,
    scratch,
    imports.exampleUrl,
    packages,
    paths.script,
  ]
}

/**
 * For the C library. By default it has a heap for each thread, and returns its memory whenever Deno
 * has imported a module. Two heaps that keep some memory make the first response of a val 5 %
 * faster.
 */
const allocation = { MALLOC_ARENA_MAX: "2", MALLOC_TOP_PAD_: String(1024 * 1024) }

/** The whole environment of a guest. */
export function toDenoEnvironment(paths: GuestPaths, hasProxy: boolean): Record<string, string> {
  const proxy = `unix:${paths.run}/out.sock`
  const proxies = hasProxy ? { HTTP_PROXY: proxy, HTTPS_PROXY: proxy } : {}
  return {
    DENO_DIR: paths.denoDir,
    // It cannot write there, and would retry five times, which delays the start by 150 ms.
    DENO_EMIT_CACHE_MODE: "disable",
    DENO_NO_UPDATE_CHECK: "1",
    HOME: paths.scratch,
    NO_COLOR: "1",
    ...allocation,
    ...proxies,
  }
}
