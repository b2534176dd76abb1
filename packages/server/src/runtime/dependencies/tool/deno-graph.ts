import { existsSync } from "node:fs"
import type { DenoInfo, InfoDependency, InfoModule, InfoPackage } from "./deno-info.ts"
import type { ImportFailure } from "./tool-messages.ts"

const redirectsMax = 20

/** What Deno has fetched, and how it hangs together. */
export class DenoGraph {
  readonly #info: DenoInfo
  readonly #modules: ReadonlyMap<string, InfoModule>
  /**
   * What the specifiers in the file itself are, once they are read: whoever writes `NPM:` means
   * `npm:`.
   */
  readonly #roots: ReadonlyMap<string, string>

  /** `main` is the address of the file that it begins with. */
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

  /** Where a specifier leads in the end. */
  follow(specifier: string): string {
    let current = this.#roots.get(specifier) ?? specifier
    for (let hop = 0; hop < redirectsMax; hop++) {
      const next = this.#info.redirects[current]
      if (next === undefined || next === current) break
      current = next
    }
    return current
  }

  /** The module that a specifier leads to. */
  find(specifier: string): InfoModule | undefined {
    return this.#modules.get(this.follow(specifier))
  }

  findPackage(id: string | undefined): InfoPackage | undefined {
    return id === undefined ? undefined : this.#info.npmPackages[id]
  }

  /**
   * What is wrong with a specifier or anything that it needs; undefined when all of it is there.
   */
  findFailure(specifier: string): GraphFailure | undefined {
    const queue: Edge[] = [{ specifier, isNeeded: true }]
    const seen = new Set<string>()
    for (const { specifier: current, isNeeded } of queue) {
      const module = this.find(current)
      const failure = this.#judge(module, current)
      // What is imported later, if at all, may be missing, but an npm package that is keeps all
      // others from being resolved.
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
    // What is on another server has no business with the files of this one, but Deno would let it.
    if (!module || module.specifier.startsWith("file:"))
      return { kind: "broken", message: `Module not found "${specifier}".`, from: "deno" }
    if (module.error !== undefined) return { kind: "broken", message: module.error, from: "deno" }
    if (module.kind !== "npm") return undefined
    const missing = { message: "It is not there", from: "deno" } as const
    if (!this.#isInstalled(module.npmPackage)) return { kind: "unresolved", ...missing }
    return this.#isComplete(module.npmPackage) ? undefined : { kind: "incomplete", ...missing }
  }

  #isInstalled(id: string | undefined): boolean {
    const path = this.findPackage(id)?.localPath
    return path !== undefined && existsSync(path)
  }

  /** All packages that it needs are there too. */
  #isComplete(id: string | undefined): boolean {
    const ids = new Set([id])
    for (const current of ids) {
      if (!this.#isInstalled(current)) return false
      for (const needed of this.findPackage(current)?.dependencies ?? []) ids.add(needed)
    }
    return true
  }
}

interface Edge {
  readonly specifier: string
  readonly isNeeded: boolean
}

/**
 * broken:      it says why
 * unresolved:  the package itself is not there; it does not say why
 * incomplete:  a package that it needs is not there, perhaps because it can do without on this machine
 */
export interface GraphFailure extends ImportFailure {
  readonly kind: "broken" | "unresolved" | "incomplete"
}
