import { existsSync } from "node:fs"
import type { DenoInfo, InfoDependency, InfoModule, InfoPackage } from "./deno-info.ts"
import { readPackage } from "./package-json.ts"
import type { ImportFailure } from "./tool-messages.ts"

const redirectsMax = 20

/** The modules and packages that Deno has fetched, and how they import each other. */
export class DenoGraph {
  readonly #info: DenoInfo
  readonly #modules: ReadonlyMap<string, InfoModule>
  /** The specifiers in the main file as Deno reads them: it reads `NPM:` as `npm:`. */
  readonly #roots: ReadonlyMap<string, string>

  /** `main` is the address of the main file. */
  constructor(info: DenoInfo, main: string) {
    this.#info = info
    this.#modules = new Map(info.modules.map((one) => [one.specifier, one]))
    const roots = this.#modules.get(main)?.dependencies ?? []
    this.#roots = new Map(
      roots.map(({ specifier, code }) => [specifier, code?.specifier ?? specifier]),
    )
  }

  get packageCount(): number {
    return Object.keys(this.#info.npmPackages).length
  }

  /** The address of a specifier after all redirects. */
  follow(specifier: string): string {
    let current = this.#roots.get(specifier) ?? specifier
    for (let hop = 0; hop < redirectsMax; hop++) {
      const next = this.#info.redirects[current]
      if (next === undefined || next === current) break
      current = next
    }
    return current
  }

  /** The module of a specifier. */
  find(specifier: string): InfoModule | undefined {
    return this.#modules.get(this.follow(specifier))
  }

  findPackage(id: string | undefined): InfoPackage | undefined {
    return id === undefined ? undefined : this.#info.npmPackages[id]
  }

  /** Why a specifier, or anything that it imports, failed. Undefined when nothing did. */
  findFailure(specifier: string): GraphFailure | undefined {
    const queue: Edge[] = [{ specifier, isNeeded: true }]
    const seen = new Set<string>()
    for (const { specifier: current, isNeeded } of queue) {
      const module = this.find(current)
      const failure = this.#judge(module, current)
      // A dynamic import may be missing. But a missing npm package keeps Deno from resolving all
      // others.
      if (failure && (isNeeded || failure.kind !== "broken"))
        return { ...failure, about: current === specifier ? null : current }
      for (const one of module?.dependencies ?? []) {
        const edge = this.#toEdge(one, isNeeded)
        if (edge instanceof Error)
          return isNeeded
            ? { kind: "broken", message: edge.message, from: "deno", about: one.specifier }
            : undefined
        if (!edge || seen.has(`${edge.specifier} ${edge.isNeeded}`)) continue
        seen.add(`${edge.specifier} ${edge.isNeeded}`)
        queue.push(edge)
      }
    }
    return undefined
  }

  #toEdge(
    { code, isDynamic, specifier }: InfoDependency,
    isNeeded: boolean,
  ): Edge | Error | undefined {
    if (!code) return undefined
    if (code.error !== undefined && !isDynamic) return new Error(code.error)
    return { specifier: code.specifier ?? specifier, isNeeded: isNeeded && !isDynamic }
  }

  #judge(
    module: InfoModule | undefined,
    specifier: string,
  ): Omit<GraphFailure, "about"> | undefined {
    // Deno would let a remote module import local files.
    if (!module || module.specifier.startsWith("file:"))
      return { kind: "broken", message: `Module not found "${specifier}".`, from: "deno" }
    if (module.error !== undefined) return { kind: "broken", message: module.error, from: "deno" }
    if (module.kind !== "npm") return undefined
    const missing = { message: "It is missing", from: "deno" } as const
    if (!this.#isInstalled(module.npmPackage)) return { kind: "unresolved", ...missing }
    return this.#isComplete(module.npmPackage) ? undefined : { kind: "incomplete", ...missing }
  }

  #isInstalled(id: string | undefined): boolean {
    const path = this.findPackage(id)?.localPath
    return path !== undefined && existsSync(path)
  }

  /** Whether all its dependencies are installed too, except optional ones, as of other platforms. */
  #isComplete(id: string | undefined): boolean {
    const ids = new Set([id])
    for (const current of ids) {
      if (!this.#isInstalled(current)) return false
      const { dependencies = [], localPath = "" } = this.findPackage(current) ?? {}
      const missing = dependencies.filter((needed) => !this.#isInstalled(needed))
      const optional = missing.length > 0 ? listOptional(localPath) : noNames
      for (const needed of dependencies)
        if (!missing.includes(needed) || !optional.has(this.findPackage(needed)?.name ?? ""))
          ids.add(needed)
    }
    return true
  }
}

const noNames: ReadonlySet<string> = new Set()

/** The packages that a package can do without. `npm:name@range` is one under another name. */
function listOptional(folder: string): ReadonlySet<string> {
  const entries = Object.entries(readPackage(folder)?.optionalDependencies ?? {})
  return new Set(entries.map(([name, range]) => /^npm:(@?[^@]+)/.exec(String(range))?.[1] ?? name))
}

interface Edge {
  readonly specifier: string
  readonly isNeeded: boolean
}

/**
 * broken:      the message says why
 * unresolved:  the package itself is missing; the reason is unknown
 * incomplete:  a dependency is missing; the reason is unknown
 */
export interface GraphFailure extends ImportFailure {
  readonly kind: "broken" | "unresolved" | "incomplete"
}
