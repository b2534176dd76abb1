import { sessionHeader } from "@hamlet/contract/client"
import { findModuleAddress, type ModuleAddress } from "./module-address.ts"

/** What is known of a module. */
type Loaded =
  | { readonly kind: "loading" }
  /** The server says that there is none. */
  | { readonly kind: "missing" }
  /** Nothing can be said about it, and nothing is. */
  | { readonly kind: "unknown" }
  | { readonly kind: "loaded"; readonly code: string }

export interface ModuleLoaderOptions {
  readonly baseUrl: string
  readonly readPageKey: () => string
  /** The specifiers that code imports. */
  readonly listImports: (code: string) => readonly string[]
  /** Something has arrived that makes a difference. */
  readonly onChange: () => void
}

export interface ModuleLoader {
  /** Loads what code in a file imports, and what that imports in turn. */
  load(code: string, importer: string): void
  find(
    specifier: string,
    importer: string,
  ): (ModuleAddress & { readonly state: Loaded }) | undefined
  findCode(fileName: string): string | undefined
  /** Forgets what may be another one by now. */
  forget(): void
}

const limits = {
  modulesMax: 300,
  moduleCharsMax: 1_000_000,
  fetchMsMax: 15_000,
}

/**
 * Fetches the vals that an open document imports, with all that they import, as the TypeScript that
 * they were written in.
 */
export function createModuleLoader({
  baseUrl,
  readPageKey,
  listImports,
  onChange,
}: ModuleLoaderOptions): ModuleLoader {
  const modules = new Map<string, { readonly address: ModuleAddress; state: Loaded }>()

  function load(code: string, importer: string): void {
    for (const specifier of listImports(code)) {
      const address = findModuleAddress(specifier, importer, baseUrl)
      if (!address || modules.has(address.fileName) || modules.size >= limits.modulesMax) continue
      modules.set(address.fileName, { address, state: { kind: "loading" } })
      void fetchModule(address)
    }
  }

  async function fetchModule(address: ModuleAddress): Promise<void> {
    const state = await fetchCode(`${baseUrl.replace(/\/$/, "")}${address.path}`, readPageKey())
    modules.set(address.fileName, { address, state })
    if (state.kind === "loaded") load(state.code, address.fileName)
    if (state.kind !== "unknown") onChange()
  }

  return {
    load,
    find(specifier, importer) {
      const address = findModuleAddress(specifier, importer, baseUrl)
      const state = address && modules.get(address.fileName)?.state
      return state && { ...address, state }
    },
    findCode(fileName) {
      const state = modules.get(fileName)?.state
      return state?.kind === "loaded" ? state.code : undefined
    },
    forget() {
      for (const [fileName, { address, state }] of modules) {
        const mayDiffer = !address.isPinned || state.kind !== "loaded"
        if (mayDiffer && state.kind !== "loading") modules.delete(fileName)
      }
    },
  }
}

async function fetchCode(url: string, pageKey: string): Promise<Loaded> {
  try {
    const response = await fetch(url, {
      // A browser is given JavaScript unless it says that it wants the types. The second header
      // lets the cookie of the session count.
      headers: { accept: "text/tsx, text/typescript", [sessionHeader]: pageKey },
      credentials: "same-origin",
      signal: AbortSignal.timeout(limits.fetchMsMax),
    })
    if (response.status === 404) return { kind: "missing" }
    if (
      !response.ok ||
      !/^text\/(tsx|typescript)\b/.test(response.headers.get("content-type") ?? "")
    )
      return { kind: "unknown" }
    const code = await response.text()
    return code.length > limits.moduleCharsMax ? { kind: "unknown" } : { kind: "loaded", code }
  } catch {
    return { kind: "unknown" }
  }
}
