import type { VersionConfig } from "../imports/version-configs.ts"
import type { ModuleText, ModuleTexts } from "./module-texts.ts"

/**
 * What a walk has searched. A text may have a thousand paths that are no files: without a limit, two
 * hundred such files would keep the server busy for seconds.
 */
export interface FileSearch {
  /** Each is searched once. */
  readonly urls: Set<string>
  specifiersLeft: number
}

/** A file in a version. */
interface FileModule {
  readonly url: string
  readonly path: string
  readonly text: ModuleText
}

interface ImportingFile extends FileModule {
  readonly branchId: string
  readonly version: number
  readonly config: VersionConfig | null
}

const limits = { specifiersMax: 5_000, urlsMax: 1_000 }

/** Starts the search for the files of one program. */
export function startFileSearch(): FileSearch {
  return { urls: new Set(), specifiersLeft: limits.specifiersMax }
}

/**
 * The files of its own version that a file imports, and the URLs that it imports them by. It is not
 * complete if some were searched before, or the search has come to its limit.
 */
export async function findImportedFiles(
  texts: ModuleTexts,
  { url: from, path: ownPath, branchId, version, config, text: own }: ImportingFile,
  search: FileSearch,
): Promise<{
  readonly found: readonly { readonly url: string; readonly module: FileModule }[]
  readonly isComplete: boolean
}> {
  const root = from.slice(0, -ownPath.length)
  const specifiers = own.files.slice(0, search.specifiersLeft)
  search.specifiersLeft -= specifiers.length
  let isComplete = specifiers.length === own.files.length
  const urls = specifiers
    .map((specifier) => resolveUrl(specifier, from))
    .filter((url): url is string => url?.startsWith(root) === true)
    .filter((url) => {
      const isNew = !search.urls.has(url) && search.urls.size < limits.urlsMax
      isComplete &&= isNew
      if (isNew) search.urls.add(url)
      return isNew
    })
  const found = await Promise.all(
    urls.map(async (url) => {
      const [path = ""] = url.slice(root.length).split("?")
      const key = toFileKey(branchId, version, path)
      const text = await texts.find(key, branchId, version, path, config, own.importsTexts)
      return text && { url, module: { url: `${root}${path}`, path, text } }
    }),
  )
  return { found: found.filter((one) => one !== undefined), isComplete }
}

/** Identifies a file in a version. */
export function toFileKey(branchId: string, version: number, path: string): string {
  return `${branchId}@${version}/${path}`
}

const addressPattern = /^(?:\s*https?:|\/|\.\/|\.\.\/)/i

/** The URL that the runtime will request: it ignores the fragment. */
export function resolveUrl(specifier: string, from: string): string | undefined {
  const url = addressPattern.test(specifier) ? URL.parse(specifier, from) : null
  if (!url) return undefined
  url.hash = ""
  return url.href
}
