import { createLateFiles, type LateFiles, type LateFilesOptions } from "./worlds/late-files.ts"

/** The types of Node's modules, in files that declare modules such as `node:fs`. */
export interface NodeTypes extends LateFiles {
  /** Loads the types if the specifier is a module of Node. */
  noteImport(specifier: string, importer: string): void
}

/** The declarations of packages name modules of Node without `node:`; vals cannot. */
const bareNames: ReadonlySet<string> = new Set([
  "assert",
  "async_hooks",
  "buffer",
  "child_process",
  "cluster",
  "console",
  "constants",
  "crypto",
  "dgram",
  "diagnostics_channel",
  "dns",
  "dns/promises",
  "domain",
  "events",
  "fs",
  "fs/promises",
  "http",
  "http2",
  "https",
  "inspector",
  "module",
  "net",
  "os",
  "path",
  "path/posix",
  "path/win32",
  "perf_hooks",
  "process",
  "punycode",
  "querystring",
  "readline",
  "readline/promises",
  "repl",
  "stream",
  "stream/promises",
  "stream/web",
  "string_decoder",
  "timers",
  "timers/promises",
  "tls",
  "tty",
  "url",
  "util",
  "util/types",
  "v8",
  "vm",
  "worker_threads",
  "zlib",
])

export function createNodeTypes(options: LateFilesOptions): NodeTypes {
  const files = createLateFiles(options)
  return {
    ...files,
    noteImport(specifier, importer) {
      const isNode =
        specifier.startsWith("node:") || (importer.startsWith("/npm/") && bareNames.has(specifier))
      if (isNode) files.want()
    },
  }
}
