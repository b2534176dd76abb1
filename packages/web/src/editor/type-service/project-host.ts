import type { CompilerSettings } from "@hamlet/contract/compiler-settings"
import ts from "typescript-js"
import { knownFileName, offeredStandard, toKnownCode } from "./known-modules.ts"
import type { ModuleAddress } from "./module-address.ts"
import type { ModuleLoader } from "./module-loader.ts"
import type { NodeTypes } from "./node-types.ts"
import type { PackageTypes } from "./package-types.ts"
import { toSnapshot } from "./snapshot.ts"
import type { ValConfigs } from "./val-configs.ts"
import { isHtml, type World } from "./worlds/find-worlds.ts"
import type { LateFiles } from "./worlds/late-files.ts"

/** The global type files; the compiler options add TypeScript's own libraries. */
const rootLibs: Readonly<Record<World, readonly string[]>> = {
  server: ["/lib/deno.d.ts", "/lib/prelude.d.ts"],
  page: [],
  both: ["/dom/deno.d.ts", "/dom/prelude.d.ts"],
}
/** The names under which TypeScript itself looks for them. */
const domLibs = ["", ".iterable", ".asynciterable"].map((part) => `/lib/lib.dom${part}.d.ts`)
/** The globals of Node, until its types are loaded. */
const nodeGlobalsLib = "/lib/node-globals.d.ts"

/** Deno's options without `noImplicitAny`: a package may have no types, then callbacks are any. */
export const compilerOptions: ts.CompilerOptions = {
  target: ts.ScriptTarget.ESNext,
  module: ts.ModuleKind.ESNext,
  moduleResolution: ts.ModuleResolutionKind.Bundler,
  moduleDetection: ts.ModuleDetectionKind.Force,
  lib: ["lib.esnext.d.ts"],
  types: [],
  strict: true,
  noImplicitAny: false,
  jsx: ts.JsxEmit.Preserve,
  allowImportingTsExtensions: true,
  resolveJsonModule: true,
  isolatedModules: true,
  allowJs: true,
  skipLibCheck: true,
  noEmit: true,
}

function toCompilerOptions(settings: CompilerSettings | undefined): ts.CompilerOptions {
  if (settings === undefined) return compilerOptions
  if (settings.jsx === "automatic")
    return { ...compilerOptions, jsxImportSource: settings.importSource }
  const { factory: jsxFactory, fragmentFactory: jsxFragmentFactory } = settings
  return {
    ...compilerOptions,
    ...(jsxFactory !== undefined && { jsxFactory }),
    ...(jsxFragmentFactory !== undefined && { jsxFragmentFactory }),
  }
}

/** A text that the page has opened. */
export interface Document {
  readonly path: string
  /** Undefined until the page has sent it. */
  readonly text: string | undefined
  readonly version: number
}

/** All files that TypeScript reads. */
export interface ProjectFiles {
  readonly libs: Readonly<Record<string, string>>
  readonly documents: Map<string, Document>
  readonly loader: ModuleLoader
  readonly packages: PackageTypes
  readonly nodeTypes: NodeTypes
  readonly domTypes: LateFiles
  readonly configs: ValConfigs
  readonly findAddress: (specifier: string, importer: string) => ModuleAddress | undefined
  /** Whether the standard library is offered for import; it is loaded when that is first asked for. */
  offersStandard: boolean
  /** Counts changes. A change of modules affects how all files resolve their imports. */
  changes: number
  moduleChanges: number
}

/** The specifiers that the file of known modules imports. */
export function listKnown({ offersStandard, packages }: ProjectFiles): readonly string[] {
  return [...(offersStandard ? offeredStandard : []), ...packages.listSpecifiers()]
}

/** The language service asks for it too. */
type Host = ts.LanguageServiceHost & Pick<ts.CompilerHost, "hasInvalidatedResolutions">

/** The files of a project with the globals of one world. */
export function createHost(files: ProjectFiles, world: World): Host {
  const { libs, documents, loader, packages, nodeTypes, domTypes } = files
  // The changes of modules in the program that TypeScript has, and in the one that it makes.
  let resolved = { known: -1, next: -1 }
  const read = (fileName: string) =>
    (fileName === knownFileName ? toKnownCode(listKnown(files)) : undefined) ??
    documents.get(fileName)?.text ??
    loader.findCode(fileName) ??
    packages.read(fileName) ??
    nodeTypes.read(fileName) ??
    // A file that asks for the DOM would bring it into the program of the server.
    (world === "server" ? undefined : domTypes.read(fileName)) ??
    (Object.hasOwn(libs, fileName) ? libs[fileName] : undefined)
  return {
    getCompilationSettings: () => toCompilerOptions(files.configs.findCompiler()),
    // Called before a program is made, so that the one before is complete by then.
    getProjectVersion() {
      resolved = { known: resolved.next, next: files.moduleChanges }
      return String(files.changes)
    },
    hasInvalidatedResolutions: (path) =>
      resolved.known !== resolved.next && mayResolveAnew.test(path),
    getScriptFileNames: () => [
      ...listLibs(nodeTypes, world),
      ...listCode(documents),
      knownFileName,
    ],
    getScriptVersion(fileName) {
      const isFixed = Object.hasOwn(libs, fileName) || nodeTypes.has(fileName)
      if (isFixed || domTypes.has(fileName)) return "1"
      // Only new packages change how those that are known resolve their imports.
      if (packages.has(fileName)) return String(packages.changes)
      if (fileName === knownFileName) return `${files.moduleChanges} ${listKnown(files).length}`
      const document = documents.get(fileName)
      if (!document) return `module ${files.moduleChanges}`
      // TypeScript adds the import of the JSX runtime when it parses a file.
      return `text ${document.version} ${JSON.stringify(files.configs.findCompiler() ?? null)}`
    },
    getScriptSnapshot(fileName) {
      const text = read(fileName)
      return text === undefined ? undefined : toSnapshot(text)
    },
    getCurrentDirectory: () => "/",
    getDefaultLibFileName: () => "/lib/lib.esnext.d.ts",
    fileExists: (fileName) => read(fileName) !== undefined,
    readFile: read,
    directoryExists: (path) => packages.hasFolder(path),
    realpath: (path) => packages.toRealPath(path),
    // Other modules stay unresolved: TypeScript takes them as any, and `diagnose` drops its error.
    resolveModuleNameLiterals: (literals, importer) =>
      literals.map((literal) => ({
        resolvedModule: isTextImport(literal)
          ? toResolved(textModule)
          : findFile(files, literal.text, importer),
      })),
  }
}

/** Vals, and the file of known modules. Packages and libraries have other versions then. */
const mayResolveAnew = /^\/(?:v\/|std\/|known-modules)/

function listLibs(nodeTypes: NodeTypes, world: World): readonly string[] {
  const ofNode = nodeTypes.list().length > 0 ? nodeTypes.list() : [nodeGlobalsLib]
  return [
    ...(world === "server" ? [] : domLibs),
    ...rootLibs[world],
    ...(world === "page" ? [] : ofNode),
  ]
}

/** What `with { type: "text" }` imports, from any file. */
const textModule = "/lib/text-module.d.ts"

function isTextImport({ parent }: ts.StringLiteralLike): boolean {
  if (!ts.isImportDeclaration(parent)) return false
  const type = parent.attributes?.elements.find(({ name }) => name.text === "type")?.value
  return type !== undefined && ts.isStringLiteral(type) && type.text === "text"
}

/** The file that a specifier names, if its types are known. */
export function findFile(
  files: ProjectFiles,
  specifier: string,
  importer: string,
): ts.ResolvedModuleFull | undefined {
  const { documents, loader, packages, nodeTypes, configs, findAddress } = files
  const address = findAddress(specifier, importer)
  if (address && documents.get(address.fileName)?.text !== undefined)
    return toResolved(address.fileName)
  const module = loader.find(specifier, importer)
  if (module?.state.kind !== "loaded") {
    const { specifier: mapped } = configs.map({ specifier, importer })
    const found = packages.resolve(mapped, importer) ?? packages.resolve(specifier, importer)
    // Its types declare the modules by name, so there is no file to resolve to.
    if (!found) nodeTypes.noteImport(mapped, importer)
    return found
  }
  return toResolved(module.fileName)
}

function toResolved(fileName: string): ts.ResolvedModuleFull {
  const extension = /\.[^.]+$/.exec(fileName)?.[0] ?? ts.Extension.Tsx
  return { resolvedFileName: fileName, extension }
}

/** The documents that are code. Others can be imported, but are not checked. */
function* listCode(documents: ReadonlyMap<string, Document>): Generator<string> {
  for (const [fileName, { text }] of documents)
    if (text !== undefined && !/\.jsonc?$/.test(fileName) && !isHtml(fileName)) yield fileName
}
