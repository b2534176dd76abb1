import type { ValConfig } from "@hamlet/contract/deno-json"
import { resolveMapped } from "@hamlet/contract/import-map"
import type { SourceFile } from "@hamlet/npm"
import { toBundle } from "@hamlet/sandbox/testing"
import { toTextKey } from "../../../src/domain/modules/imports/config-keys.ts"
import { findImplicit } from "../../../src/domain/modules/imports/text-packages.ts"
import type {
  DependencyResolver,
  ImportPlace,
  LockedImport,
  ResolvedCode,
} from "../../../src/domain/modules/lockfiles.ts"

/** A package, by its specifier. */
export interface FakePackage {
  /** A JavaScript expression that evaluates to its namespace. */
  readonly code: string
  readonly exports: readonly string[]
  readonly resolved?: string
}

/**
 * A registry in the test. Unlike the real thing it reads code with a pattern, and it gives whatever
 * the test has put there at that moment. The bundles are such as the real guest runs.
 */
export class FakeResolver implements DependencyResolver {
  readonly packages = new Map<string, FakePackage>()
  /** Code that was asked for, in order. */
  readonly asked: string[] = []
  /** While it is set, every resolution waits for it, or those of code with the text in `hanging`. */
  gate: Promise<void> | undefined
  hanging = ""
  /** The error that it throws. */
  failure: Error | undefined
  /** The packages whose files it leaves out. */
  leftOut: readonly string[] = []
  /** Whether missing packages may exist later. */
  isTemporary = false

  /** A package whose default export, and `value`, is that value. */
  add(specifier: string, value: unknown): void {
    const text = JSON.stringify(value)
    this.packages.set(specifier, {
      code: `({ default: ${text}, value: ${text} })`,
      exports: ["default", "value"],
    })
  }

  async resolve({
    files,
    config,
    local,
    signal,
  }: Parameters<DependencyResolver["resolve"]>[0]): Promise<ResolvedCode> {
    this.asked.push(...files.map(({ code }) => code))
    signal.throwIfAborted()
    if (this.gate !== undefined && files.some(({ code }) => code.includes(this.hanging))) {
      const aborted = new Promise<never>((_, reject) =>
        signal.addEventListener("abort", () => reject(signal.reason)),
      )
      await Promise.race([this.gate, aborted])
    }
    if (this.failure) throw this.failure
    const isTown = (specifier: string) => specifier.startsWith("https://esm.town/v/")
    const matches = files.flatMap((file) => findMatches(file, config))
    const found = [...Map.groupBy(matches, ({ specifier }) => specifier)].filter(
      ([specifier]) => !isTown(specifier) || (local && !local.includes(specifier)),
    )
    const imports = found.map(([specifier, matches], entry) =>
      this.#lock(specifier, matches, entry),
    )
    const bundle = toBundle(
      imports.map(({ specifier }) => this.packages.get(specifier)?.code ?? "undefined"),
    )
    const isMissing = imports.some(({ error }) => error !== null)
    const hasAny = imports.some(({ error }) => error === null)
    const isTemporary = isMissing && this.isTemporary
    return { imports, bundle: hasAny ? bundle : null, isTemporary, leftOut: this.leftOut }
  }

  #lock(specifier: string, matches: readonly Match[], entry: number): LockedImport {
    const found = this.packages.get(specifier)
    return {
      specifier,
      resolved: found ? (found.resolved ?? `${specifier}@1.0.0`) : null,
      error: found ? null : "there is no such package",
      places: matches.map(toPlace),
      entry,
      exports: found?.exports ?? [],
    }
  }
}

interface Match extends ImportPlace {
  readonly specifier: string
}

/** A literal, or the source of JSX. */
const pattern = /(["'`])((?:\\\r?\n|[^"'`\\\n])+)\1|(?<=@jsxImportSource\s+)[^\s*]+/g
/** What names no val of this server. */
const remote = /^(?!http:\/\/hamlet\.test\/|https:\/\/esm\.town\/v\/std\/)(?:npm|jsr|https?):/

function findMatches({ path, code }: SourceFile, config: ValConfig | undefined): readonly Match[] {
  const text = toTextKey(code, path, config)
  const written = Array.from(code.matchAll(pattern), (match) => {
    const specifier = toSpecifier(match)
    const meaning = (config && resolveMapped(config.map, specifier, path)) ?? specifier
    return { specifier: meaning, start: match.index, end: match.index + match[0].length }
  })
  return [...written, ...findImplicit(config, code, path)]
    .filter(({ specifier }) => remote.test(specifier))
    .map((one) => ({ ...one, text }))
}

function toSpecifier([text, , inQuotes]: RegExpExecArray): string {
  return inQuotes?.replaceAll(/\\\r?\n/g, "") ?? `${text}/jsx-runtime`
}

function toPlace({ text, start, end }: Match): ImportPlace {
  return { ...(text === undefined ? {} : { text }), start, end }
}
