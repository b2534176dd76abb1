import { toPackagesFolder } from "../package-files.ts"
import type { SandboxLimits } from "../sandbox-limits.ts"

/** Where things are, as the guest sees it. */
export interface GuestPaths {
  readonly deno: string
  readonly guest: string
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
 * How the guest is started. Permissions are allow-lists, since what a deny-list forgets is allowed;
 * there is no permission to run programs or to load native libraries. All of the network is allowed
 * where the sandbox has none but the host's proxy, since the proxy decides; otherwise nothing of it
 * is but the two sockets.
 */
export function toDenoCommand(
  paths: GuestPaths,
  imports: GuestImports,
  limits: SandboxLimits,
  hasProxy: boolean,
): string[] {
  const { run, scratch } = paths
  const packages = toPackagesFolder(paths.denoDir)
  const heapMegabytes = Math.max(1, Math.floor(limits.heapBytesMax / 1024 ** 2))
  return [
    paths.deno,
    "run",
    "--quiet",
    "--no-prompt",
    // Without these two Deno searches the folders above for files that are not there, which takes
    // longer than everything else.
    "--no-config",
    "--no-lock",
    "--no-npm",
    "--cached-only",
    "--no-code-cache",
    // Otherwise a request's signal is aborted when it was answered, and a val that listens for it
    // is warned in its logs.
    "--unstable-no-legacy-abort",
    "--allow-env",
    hasProxy ? "--allow-net" : `--allow-net=unix:${run}/control.sock,unix:${run}/in.sock`,
    `--allow-read=${run},${scratch},${packages}`,
    `--allow-write=${run},${scratch}`,
    `--allow-import=${imports.hosts.join(",")}`,
    `--v8-flags=--max-old-space-size=${heapMegabytes}`,
    paths.guest,
    run,
    scratch,
    imports.exampleUrl,
    packages,
  ]
}

/**
 * For the C library, which has a heap for each of the few threads of a process otherwise, and gives
 * each back whenever Deno has imported something: two heaps that keep a little in hand make the
 * first answer of a val a twentieth faster.
 */
const allocation = { MALLOC_ARENA_MAX: "2", MALLOC_TOP_PAD_: String(1024 * 1024) }

/** The whole environment of a guest. */
export function toDenoEnvironment(paths: GuestPaths, hasProxy: boolean): Record<string, string> {
  const proxy = `unix:${paths.run}/out.sock`
  const proxies = hasProxy ? { HTTP_PROXY: proxy, HTTPS_PROXY: proxy } : {}
  return {
    DENO_DIR: paths.denoDir,
    // It cannot write there, and would try five times, with pauses of 150 ms in all, before a
    // process is ready.
    DENO_EMIT_CACHE_MODE: "disable",
    DENO_NO_UPDATE_CHECK: "1",
    HOME: paths.scratch,
    NO_COLOR: "1",
    ...allocation,
    ...proxies,
  }
}
