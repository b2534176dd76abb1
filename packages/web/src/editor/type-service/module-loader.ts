import { sessionHeader } from "@hamlet/contract/client"
import { areTogether, type ModuleAddress } from "./module-address.ts"

/** The state of a module. */
type ModuleState =
  | { readonly kind: "loading" }
  /** The server has no such module. */
  | { readonly kind: "missing" }
  /** The module could not be loaded: no error is shown for it. */
  | { readonly kind: "unknown" }
  | {
      readonly kind: "loaded"
      readonly code: string
      /** The address that the server redirected to: what it imports is relative to that. */
      readonly url: string
    }

export interface ModuleLoaderOptions {
  readonly baseUrl: string
  readonly readPageKey: () => string
  /** The module that a specifier names in a file. */
  readonly findAddress: (specifier: string, importer: string) => ModuleAddress | undefined
  /** Whether the page sends the text of a file. */
  readonly isOpen: (fileName: string) => boolean
  /** The specifiers that code imports. */
  readonly listImports: (code: string) => readonly string[]
  /** A module was loaded. */
  readonly onChange: () => void
}

export interface ModuleLoader {
  /** Loads the imports of a file, and their imports. */
  load(code: string, importer: string): void
  find(
    specifier: string,
    importer: string,
  ): (ModuleAddress & { readonly state: ModuleState }) | undefined
  findCode(fileName: string): string | undefined
  /** The vals that were loaded, as they are imported. */
  listVals(): readonly { readonly specifier: string; readonly fileName: string }[]
  /** Drops modules that may have changed. */
  dropStale(): void
}

const limits = {
  modulesMax: 300,
  moduleCharsMax: 1_000_000,
  fetchMsMax: 15_000,
}

/** Fetches the imported vals of open documents and their imports, as TypeScript. */
export function createModuleLoader({
  baseUrl,
  readPageKey,
  findAddress,
  isOpen,
  listImports,
  onChange,
}: ModuleLoaderOptions): ModuleLoader {
  const modules = new Map<string, { readonly address: ModuleAddress; state: ModuleState }>()

  function load(code: string, importer: string): void {
    for (const specifier of listImports(code)) {
      const address = findAddress(specifier, importer)
      if (!address || isOpen(address.fileName)) continue
      // The other files of an open val are open too, or do not exist.
      if (isOpen(importer) && areTogether(address.fileName, importer)) continue
      if (modules.has(address.fileName) || modules.size >= limits.modulesMax) continue
      modules.set(address.fileName, { address, state: { kind: "loading" } })
      void fetchModule(address)
    }
  }

  async function fetchModule(address: ModuleAddress): Promise<void> {
    const state = await fetchCode(`${baseUrl.replace(/\/$/, "")}${address.path}`, readPageKey())
    modules.set(address.fileName, { address, state })
    if (state.kind === "loaded") load(state.code, toBase(address.fileName))
    if (state.kind !== "unknown") onChange()
  }

  /** The file that the imports of a file are relative to. */
  function toBase(fileName: string): string {
    const state = modules.get(fileName)?.state
    const own = state?.kind === "loaded" ? findAddress(state.url, fileName) : undefined
    return own?.fileName ?? fileName
  }

  return {
    load,
    find(specifier, importer) {
      const address = findAddress(specifier, toBase(importer))
      const state = address && modules.get(address.fileName)?.state
      return state && { ...address, state }
    },
    findCode(fileName) {
      const state = modules.get(fileName)?.state
      return state?.kind === "loaded" ? state.code : undefined
    },
    listVals: () =>
      [...modules.values()]
        .filter(({ address, state }) => state.kind === "loaded" && address.path.startsWith("/v/"))
        .map(({ address: { path, fileName } }) => ({ specifier: path, fileName })),
    dropStale() {
      for (const [fileName, { address, state }] of modules) {
        const mayDiffer = !address.isPinned || state.kind !== "loaded"
        if (mayDiffer && state.kind !== "loading") modules.delete(fileName)
      }
    },
  }
}

async function fetchCode(url: string, pageKey: string): Promise<ModuleState> {
  try {
    const response = await fetch(url, {
      // The server sends browsers JavaScript unless they accept TypeScript. The second header makes
      // the session cookie valid.
      headers: { accept: "text/tsx, text/typescript", [sessionHeader]: pageKey },
      credentials: "same-origin",
      signal: AbortSignal.timeout(limits.fetchMsMax),
    })
    if (response.status === 404) return { kind: "missing" }
    if (
      !response.ok ||
      !/^(?:text\/(?:[jt]sx|(?:type|java)script)|application\/json)\b/.test(
        response.headers.get("content-type") ?? "",
      )
    )
      return { kind: "unknown" }
    const code = await response.text()
    return code.length > limits.moduleCharsMax
      ? { kind: "unknown" }
      : { kind: "loaded", code, url: response.url }
  } catch {
    return { kind: "unknown" }
  }
}
