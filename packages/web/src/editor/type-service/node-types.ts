/** The types of Node's modules. They are large, so they are loaded when an import first needs them. */
export interface NodeTypes {
  /** The files, which declare modules such as `node:fs`; none until they are loaded. */
  listFiles(): readonly string[]
  read(fileName: string): string | undefined
  has(fileName: string): boolean
  /** Loads the types if the specifier is a module of Node. */
  noteImport(specifier: string, importer: string): void
}

export interface NodeTypesOptions {
  /** Undefined after a failure: the modules stay without types, and no error is shown. */
  readonly load: () => Promise<Readonly<Record<string, string>> | undefined>
  /** The types were loaded. */
  readonly onChange: () => void
}

/** The declarations of packages name modules of Node without `node:`; vals cannot. */
const bareNames: ReadonlySet<string> = new Set([
  ...["assert", "async_hooks", "buffer", "child_process", "cluster", "console", "constants"],
  ...["crypto", "dgram", "diagnostics_channel", "dns", "dns/promises", "domain", "events", "fs"],
  ...["fs/promises", "http", "http2", "https", "inspector", "module", "net", "os", "path"],
  ...["path/posix", "path/win32", "perf_hooks", "process", "punycode", "querystring", "readline"],
  ...["readline/promises", "repl", "stream", "stream/promises", "stream/web", "string_decoder"],
  ...["timers", "timers/promises", "tls", "tty", "url", "util", "util/types", "v8", "vm"],
  ...["worker_threads", "zlib"],
])

export function createNodeTypes({ load, onChange }: NodeTypesOptions): NodeTypes {
  let files: Readonly<Record<string, string>> = {}
  let state: "none" | "loading" | "loaded" = "none"

  async function start(): Promise<void> {
    state = "loading"
    const loaded = await load()
    // After a failure, the next import that is resolved tries again.
    state = loaded ? "loaded" : "none"
    if (!loaded) return
    files = loaded
    onChange()
  }

  const has = (fileName: string) => Object.hasOwn(files, fileName)
  return {
    listFiles: () => Object.keys(files),
    read: (fileName) => (has(fileName) ? files[fileName] : undefined),
    has,
    noteImport(specifier, importer) {
      const isNode =
        specifier.startsWith("node:") || (importer.startsWith("/npm/") && bareNames.has(specifier))
      if (isNode && state === "none") void start()
    },
  }
}
