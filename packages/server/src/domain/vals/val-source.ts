import type { Caller } from "../access.ts"
import {
  type ImportAddress,
  type ImportHosts,
  parseImportAddress,
} from "../modules/import-address.ts"
import { hasRemoteImports } from "../modules/remote-imports.ts"

/**
 * A val that code imports, with every specifier that the code uses for it. The version is null if
 * any of them names no version.
 */
export interface ValImport extends ImportAddress {
  readonly specifiers: readonly string[]
}

/** Code and what it imports. */
export interface ValSource {
  readonly code: string
  readonly imports: readonly ValImport[]
  /** Whether it also imports packages, so that its version needs a lockfile. */
  readonly isRemote?: boolean
}

/** What reading a source needs. */
export interface SourceDeps {
  readonly importHosts: ImportHosts
  /** Parses the code for imports. The parser is shared fairly between owners. */
  scanImports(code: string, ownerId: string): Promise<readonly string[]>
}

/** Parses code of the caller for the vals and packages that it imports. */
export async function readSource(
  deps: SourceDeps,
  caller: Caller,
  code: string,
  name: string,
): Promise<ValSource> {
  return toSource(
    deps.importHosts,
    { username: caller.username, name },
    code,
    await deps.scanImports(code, caller.userId),
  )
}

/**
 * Builds a source from the specifiers that the parser found. Relative imports are resolved against
 * the importing val.
 */
export function toSource(
  hosts: ImportHosts,
  importer: { readonly username: string; readonly name: string },
  code: string,
  specifiers: readonly string[],
): ValSource {
  const found = new Map<string, ValImport>()
  for (const specifier of specifiers) {
    const address = parseImportAddress(specifier, hosts, importer)
    if (!address) continue
    const key = `${address.username}/${address.name}`
    const before = found.get(key)
    const version = before?.version === null ? null : address.version
    found.set(key, { ...address, version, specifiers: [...(before?.specifiers ?? []), specifier] })
  }
  return { code, imports: [...found.values()], isRemote: hasRemoteImports(code, specifiers, hosts) }
}
