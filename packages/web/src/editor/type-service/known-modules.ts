import { sessionHeader } from "@hamlet/contract/client"
import { standardModuleNames } from "@hamlet/contract/standard-modules"

/** The file that imports all known modules, so that TypeScript reads their exports. */
export const knownFileName = "/known-modules.ts"

/** Other names for modules that are listed, or other modules with the same exports. */
const aliases: readonly string[] = ["sqlite2", "API_URL", "blob/main", "sqlite/main"]

/** The modules of the standard library that are offered for import. */
export const offeredStandard: readonly string[] = standardModuleNames
  .filter((name) => !aliases.includes(name))
  .map((name) => `/std/${name}`)

export function toKnownCode(specifiers: readonly string[]): string {
  return specifiers.map((specifier) => `import ${JSON.stringify(specifier)}\n`).join("")
}

export interface OwnVals {
  /**
   * The addresses by which vals are imported; empty until they are loaded, which the first call
   * starts.
   */
  list(): readonly string[]
}

const limits = { fetchMsMax: 10_000, pageItems: 100, pagesMax: 10, refreshMs: 60_000 }

interface ValPage {
  readonly data: readonly {
    readonly name: string
    readonly author: { readonly username: string }
  }[]
  readonly links: { readonly next?: string | null }
}

/** The vals of the user. Without a session there are none. */
export function createOwnVals(
  baseUrl: string,
  readPageKey: () => string,
  now: () => number = Date.now,
): OwnVals {
  let names: readonly string[] = []
  let loadedAt = Number.NEGATIVE_INFINITY

  async function load(): Promise<void> {
    const found: string[] = []
    const query = `limit=${limits.pageItems}&omit=code,readme`
    let next: string | undefined = `${baseUrl.replace(/\/$/, "")}/v1/me/vals?${query}`
    for (let page = 0; next !== undefined && page < limits.pagesMax; page++) {
      const loaded: ValPage | undefined = await fetchPage(next, readPageKey())
      if (!loaded) return
      found.push(...loaded.data.map(({ name, author }) => `/v/${author.username}/${name}`))
      next = loaded.links.next ?? undefined
    }
    names = found
  }

  return {
    list() {
      if (now() - loadedAt > limits.refreshMs) {
        loadedAt = now()
        void load()
      }
      return names
    },
  }
}

/** Undefined after a failure: the editor then offers no vals. */
async function fetchPage(url: string, pageKey: string): Promise<ValPage | undefined> {
  try {
    const response = await fetch(url, {
      headers: { [sessionHeader]: pageKey },
      credentials: "same-origin",
      signal: AbortSignal.timeout(limits.fetchMsMax),
    })
    return response.ok ? ((await response.json()) as ValPage) : undefined
  } catch {
    return undefined
  }
}
