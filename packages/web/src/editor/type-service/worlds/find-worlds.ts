import type { ValConfigs } from "../val-configs.ts"

/**
 * Where the code of a file runs, which decides the globals that it has: in a val's process, in a
 * page, or in either, for a file that asks for the types of the DOM itself.
 */
export type World = "server" | "page" | "both"

/** A text of a val. Files of HTML are read for the scripts that they load. */
export interface WorldFile {
  readonly path: string
  readonly text: string | undefined
}

export interface WorldOptions<File extends WorldFile> {
  readonly files: ReadonlyMap<string, File>
  /** The file that a specifier names in another one. */
  readonly resolve: (specifier: string, importer: string) => string | undefined
  readonly wantsDom: ValConfigs["wantsDom"]
}

/** The world of each file by its name. A file that code of the server imports belongs to the server. */
export function findWorlds<File extends WorldFile>(
  options: WorldOptions<File>,
): ReadonlyMap<string, World> {
  const { files, wantsDom } = options
  const all = new Map([...files].map(([name, file]) => [name, readFacts(file)]))
  const edges = new Map([...all].map(([name, facts]) => [name, findEdges(options, name, facts)]))
  const imported = new Set([...edges.values()].flatMap(({ imports }) => imports))
  const shown = new Set([...edges.values()].flatMap(({ shows }) => shows))
  const isPageRoot = (name: string, facts: Facts) =>
    shown.has(name) || (!imported.has(name) && !facts.mayStart && (facts.hasDom || facts.usesPage))
  const pageRoots = [...all].filter(([name, facts]) => isPageRoot(name, facts))
  const page = follow(
    pageRoots.map(([name]) => name),
    edges,
  )
  const server = follow(
    [...all.keys()].filter((name) => !page.has(name) && !isHtml(name)),
    edges,
  )
  return new Map(
    [...all].map(([name, { hasDom }]): [string, World] => {
      if (page.has(name) && !server.has(name)) return [name, "page"]
      return [name, hasDom || wantsDom(name) ? "both" : "server"]
    }),
  )
}

/** A file of HTML has no types; its scripts have. */
export function isHtml(fileName: string): boolean {
  return /\.html?$/i.test(fileName)
}

interface Edges {
  /** What runs where the file runs. */
  readonly imports: readonly string[]
  /** What runs in the page that the file is, or returns. */
  readonly shows: readonly string[]
}

function findEdges<File extends WorldFile>(
  { files, resolve }: WorldOptions<File>,
  name: string,
  { imports, texts, scripts }: Facts,
): Edges {
  const toNames = (specifiers: readonly string[]) =>
    specifiers.flatMap((specifier) => {
      const found = resolve(specifier, name)
      return found !== undefined && found !== name && files.has(found) ? [found] : []
    })
  const sources = scripts.flatMap((source) => findScript(files, source, name) ?? [])
  return isHtml(name)
    ? { imports: [], shows: [...toNames(imports), ...sources] }
    : { imports: toNames(imports), shows: [...toNames(texts), ...sources] }
}

/**
 * The file that an address in a page means. The val decides which paths it serves: from the folder
 * of the page, from its own folder, or from one that the address does not name.
 */
function findScript(
  files: ReadonlyMap<string, WorldFile>,
  source: string,
  importer: string,
): string | undefined {
  const [root = ""] = /^\/v\/[^/]+\/[^/]+\//.exec(importer) ?? []
  const path = source.replace(/^(?:\.{0,2}\/)+/, "")
  if (path === "" || /^[a-z][a-z\d+.-]*:/i.test(path)) return undefined
  const near = importer.slice(0, importer.lastIndexOf("/") + 1) + path
  const names = [...files.keys()].filter((name) => name.startsWith(root) && name !== importer)
  return (
    names.find((name) => name === near) ??
    names.find((name) => name === root + path) ??
    names.find((name) => name.endsWith(`/${path}`))
  )
}

function follow(roots: readonly string[], edges: ReadonlyMap<string, Edges>): ReadonlySet<string> {
  const reached = new Set(roots)
  // A set that grows while it is read is read to its end.
  for (const name of reached) for (const next of edges.get(name)?.imports ?? []) reached.add(next)
  return reached
}

/** What a text says about where it runs. */
interface Facts {
  readonly imports: readonly string[]
  /** Modules that are imported as text: pages get them. */
  readonly texts: readonly string[]
  /** Addresses of scripts in HTML. */
  readonly scripts: readonly string[]
  /** `/// <reference lib="dom" />` */
  readonly hasDom: boolean
  /** Whether the file exports what a run calls. */
  readonly mayStart: boolean
  readonly usesPage: boolean
}

/** A file that has not changed is the same object. */
const known = new WeakMap<WorldFile, Facts>()

function readFacts(file: WorldFile): Facts {
  const facts = known.get(file) ?? findFacts(file.text ?? "")
  known.set(file, facts)
  return facts
}

const typeImports = /\b(?:import|export)\s+type\b[^"'`;]*\bfrom\s*["'][^"'\n]*["']/g
const importPattern =
  /\b(?:from|import)\s*\(?\s*(["'])([^"'\n]+)\1(\s*,?\s*\{?\s*with\s*:?\s*\{\s*type\s*:\s*["'](?:text|bytes)["'])?/g
const scriptPattern = /<script\b[^>]*?\bsrc\s*=\s*\{?\s*["'`]?([^"'`\s>]+)/gi
const domPattern = /^\s*\/\/\/\s*<reference\s+lib\s*=\s*["']dom(?:\.\w+)?["']/m
const startPattern = /\bexport\s+default\b|\bas\s+default\b|\bDeno\s*\./
const pagePattern = /\b(?:document|window)\s*[.[]|\breact-dom(?:@[^/"']*)?\/client\b/
const guardPattern =
  /\btypeof\s+(?:document|window)\b|\b(?:const|let|var)\s[^=;]*\b(?:document|window)\b/

function findFacts(text: string): Facts {
  const found = [...text.replaceAll(typeImports, "").matchAll(importPattern)]
  const pick = (isText: boolean) =>
    found.filter((match) => (match[3] !== undefined) === isText).map((match) => match[2] ?? "")
  return {
    imports: pick(false),
    texts: pick(true),
    scripts: [...text.matchAll(scriptPattern)].map((match) =>
      (match[1] ?? "").replaceAll(/\$\{[^}]*\}/g, "").replace(/[?#].*$/, ""),
    ),
    hasDom: domPattern.test(text),
    mayStart: startPattern.test(text),
    usesPage: pagePattern.test(text) && !guardPattern.test(text),
  }
}
