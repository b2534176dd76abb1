import type { CompilerSettings } from "@hamlet/contract/compiler-settings"
import ts from "typescript-js"
import { createOwnVals, knownFileName, offeredStandard, toKnownCode } from "./known-modules.ts"
import { areTogether, findModuleAddress, type ModuleAddress, toFileName } from "./module-address.ts"
import { createModuleLoader, type ModuleLoader } from "./module-loader.ts"
import { createNodeTypes, type NodeTypes, type NodeTypesOptions } from "./node-types.ts"
import { createPackageTypes, type LockedVersion, type PackageTypes } from "./package-types.ts"
import { toSnapshot } from "./snapshot.ts"
import { createValConfigs, type ValConfigs } from "./val-configs.ts"

/** The global type files; the compiler options add TypeScript's own libraries. */
const rootLibs = ["/lib/deno.d.ts", "/lib/prelude.d.ts"] as const
/** The globals of Node, until its types are loaded. */
const nodeGlobalsLib = "/lib/node-globals.d.ts"

/** The open documents and their imports, for TypeScript. */
export interface Project {
  readonly service: ts.LanguageService
  /** Reads the libraries. */
  warmUp(): void
  /** Adds a document, and loads its imports again. */
  open(path: string): void
  close(path: string): void
  setText(path: string, text: string): void
  getText(path: string): string
  /** The saved version of a document, whose packages have types. */
  setLocked(path: string, locked: LockedVersion): void
  /** The file name of a document. */
  toFileName(path: string): string
  /** The modules that code could import, and their files. */
  listModules(path: string): readonly ImportableModule[]
  /** The specifiers of packages that are locked. */
  listPackages(): readonly string[]
  /** The names that the deno.json of the val gives to modules. */
  listMapped(path: string): readonly string[]
  /** The vals of the user, as they are imported. */
  listOwnVals(): readonly string[]
  /** Imports of vals, and of files of the same val, that do not exist. */
  listMissing(path: string): readonly MissingModule[]
  /** The path of a document by its file name. */
  findPath(fileName: string): string | undefined
  /** The other documents of the same val, as the document imports them. */
  listOwnFiles(path: string): readonly ImportableModule[]
}

/** An import, and whether it means a file of the same val. */
type MissingModule = ts.FileReference & { readonly isOwnFile: boolean }

/** A module by its specifier. */
export interface ImportableModule {
  readonly specifier: string
  readonly fileName: string
}

export interface ProjectOptions {
  readonly libs: Readonly<Record<string, string>>
  readonly baseUrl: string
  readonly readPageKey: () => string
  readonly loadNodeTypes: NodeTypesOptions["load"]
  /** Earlier results may be out of date. */
  readonly onTypesChanged: () => void
}

/** Deno's options without `noImplicitAny`: a package may have no types, then callbacks are any. */
const compilerOptions: ts.CompilerOptions = {
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

interface Document {
  readonly path: string
  /** Undefined until the page has sent it. */
  readonly text: string | undefined
  readonly version: number
}

interface ProjectFiles {
  readonly libs: Readonly<Record<string, string>>
  readonly documents: Map<string, Document>
  readonly loader: ModuleLoader
  readonly packages: PackageTypes
  readonly nodeTypes: NodeTypes
  readonly configs: ValConfigs
  readonly findAddress: (specifier: string, importer: string) => ModuleAddress | undefined
  /** Whether the standard library is offered for import; it is loaded when that is first asked for. */
  offersStandard: boolean
  /** Counts changes. A change of modules affects how all files resolve their imports. */
  changes: number
  moduleChanges: number
  /** The changes of modules in the program that TypeScript has, and in the one that it makes. */
  resolved: { readonly known: number; readonly next: number }
}

/** A project with the libraries and without documents. */
export function createProject(options: ProjectOptions): Project {
  const { libs, baseUrl, readPageKey, loadNodeTypes, onTypesChanged } = options
  const documents = new Map<string, Document>()
  const isOpen = (fileName: string) => documents.has(fileName)
  const configs = createValConfigs()
  const findAddress = (specifier: string, importer: string) => {
    const mapped = configs.map({ specifier, importer })
    return findModuleAddress(mapped.specifier, mapped.importer, baseUrl)
  }
  const loader = createModuleLoader({
    ...{ baseUrl, readPageKey, findAddress, isOpen, listImports, onChange },
  })
  const packages = createPackageTypes({ baseUrl, readPageKey, compilerOptions, onChange })
  const nodeTypes = createNodeTypes({ load: loadNodeTypes, onChange })
  const ownVals = createOwnVals(baseUrl, readPageKey)
  const files: ProjectFiles = {
    ...{ libs, documents, loader, packages, nodeTypes, configs, findAddress },
    ...{ offersStandard: false, changes: 0, moduleChanges: 0, resolved: { known: -1, next: -1 } },
  }

  function onChange(): void {
    files.changes += 1
    files.moduleChanges += 1
    onTypesChanged()
  }

  const service = ts.createLanguageService(createHost(files))
  return {
    service,
    toFileName,
    warmUp: () => void service.getProgram()?.getTypeChecker(),
    ...changesOf(files),
    setLocked: (path, locked) => packages.load(toFileName(path), locked),
    listPackages: () => packages.listSpecifiers(),
    listMapped: (path) => configs.listNames(toFileName(path)),
    listOwnVals: () => ownVals.list(),
    listModules(path) {
      if (!files.offersStandard) offerStandard(files)
      const known = listKnown(files).flatMap((specifier) => {
        const found = findFile(files, specifier, knownFileName)
        return found ? [{ specifier, fileName: found.resolvedFileName }] : []
      })
      return [...listOwnFiles(documents, path), ...known, ...loader.listVals()]
    },
    listOwnFiles: (path) => listOwnFiles(documents, path),
    findPath: (fileName) => documents.get(fileName)?.path,
    getText: (path) => documents.get(toFileName(path))?.text ?? "",
    listMissing: (path) => listMissing(files, toFileName(path)),
  }
}

/** How the page changes the documents. */
function changesOf(files: ProjectFiles): Pick<Project, "open" | "close" | "setText"> {
  const { documents, loader, packages, configs } = files
  const loadImports = () => {
    for (const [fileName, { text = "" }] of documents) loader.load(text, fileName)
  }
  return {
    open(path) {
      const fileName = toFileName(path)
      const isFirst = ![...documents.keys()].some((other) => areTogether(other, fileName))
      if (documents.has(fileName) && !isFirst) return
      documents.set(fileName, documents.get(fileName) ?? { path, text: undefined, version: 0 })
      files.changes += 1
      files.moduleChanges += 1
      // The files of a val are opened one after the other.
      if (!isFirst) return
      loader.dropStale()
      loadImports()
      if (files.offersStandard) offerStandard(files)
    },
    close(path) {
      const fileName = toFileName(path)
      packages.close(fileName)
      if (!documents.delete(fileName)) return
      files.changes += 1
      files.moduleChanges += 1
      if (configs.note(fileName, undefined)) loadImports()
    },
    setText(path, text) {
      const fileName = toFileName(path)
      const before = documents.get(fileName)
      documents.set(fileName, { path, text, version: (before?.version ?? 0) + 1 })
      files.changes += 1
      const isConfig = configs.note(fileName, text)
      // Until now, what it exports was unknown.
      if (before?.text === undefined || isConfig) files.moduleChanges += 1
      if (isConfig) loadImports()
      // Scanning a large file for its imports takes longer than the rest of a key.
      else if (findImportLines(before?.text ?? "") !== findImportLines(text))
        loader.load(text, fileName)
    },
  }
}

function listMissing(
  { documents, loader, findAddress }: ProjectFiles,
  importer: string,
): readonly MissingModule[] {
  const text = documents.get(importer)?.text ?? ""
  return ts.preProcessFile(text, true, true).importedFiles.flatMap((imported): MissingModule[] => {
    const found = loader.find(imported.fileName, importer)
    if (found?.state.kind === "missing" && !found.mayBeElsewhere)
      return [{ ...imported, isOwnFile: false }]
    const address = findAddress(imported.fileName, importer)
    const isMissing =
      address && areTogether(address.fileName, importer) && !documents.has(address.fileName)
    return isMissing ? [{ ...imported, isOwnFile: true }] : []
  })
}

function offerStandard(files: ProjectFiles): void {
  files.offersStandard = true
  files.loader.load(toKnownCode(offeredStandard), knownFileName)
}

/** The specifiers that the file of known modules imports. */
function listKnown({ offersStandard, packages }: ProjectFiles): readonly string[] {
  return [...(offersStandard ? offeredStandard : []), ...packages.listSpecifiers()]
}

/** The language service asks for it too. */
type Host = ts.LanguageServiceHost & Pick<ts.CompilerHost, "hasInvalidatedResolutions">

function createHost(files: ProjectFiles): Host {
  const { libs, documents, loader, packages, nodeTypes } = files
  const read = (fileName: string) =>
    (fileName === knownFileName ? toKnownCode(listKnown(files)) : undefined) ??
    documents.get(fileName)?.text ??
    loader.findCode(fileName) ??
    packages.read(fileName) ??
    nodeTypes.read(fileName) ??
    (Object.hasOwn(libs, fileName) ? libs[fileName] : undefined)
  return {
    getCompilationSettings: () => toCompilerOptions(files.configs.findCompiler()),
    // Called before a program is made, so that the one before is complete by then.
    getProjectVersion() {
      files.resolved = { known: files.resolved.next, next: files.moduleChanges }
      return String(files.changes)
    },
    hasInvalidatedResolutions: (path) =>
      files.resolved.known !== files.resolved.next && mayResolveAnew.test(path),
    getScriptFileNames: () => [...listLibs(nodeTypes), ...listCode(documents), knownFileName],
    getScriptVersion(fileName) {
      if (Object.hasOwn(libs, fileName) || nodeTypes.has(fileName)) return "1"
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
      literals.map(({ text }) => ({ resolvedModule: findFile(files, text, importer) })),
  }
}

/** Vals, and the file of known modules. Packages and libraries have other versions then. */
const mayResolveAnew = /^\/(?:v\/|std\/|known-modules)/

function listLibs(nodeTypes: NodeTypes): readonly string[] {
  const ofNode = nodeTypes.listFiles()
  return [...rootLibs, ...(ofNode.length > 0 ? ofNode : [nodeGlobalsLib])]
}

function findFile(
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
    if (text !== undefined && !/\.jsonc?$/.test(fileName)) yield fileName
}

function listOwnFiles(
  documents: ReadonlyMap<string, Document>,
  path: string,
): readonly ImportableModule[] {
  const own = toFileName(path)
  return [...documents.keys()]
    .filter((fileName) => fileName !== own && !isConfig(fileName) && areTogether(fileName, own))
    .map((fileName) => ({ specifier: toRelative(own, fileName), fileName }))
}

/** It says what others import. */
function isConfig(fileName: string): boolean {
  return /\/deno\.jsonc?$/.test(fileName)
}

/** The path to a file from the folder of another. */
function toRelative(from: string, to: string): string {
  const [folders, names] = [from.split("/").slice(0, -1), to.split("/")]
  let shared = 0
  while (shared < folders.length && folders[shared] === names[shared]) shared += 1
  const up = "../".repeat(folders.length - shared)
  return `${up || "./"}${names.slice(shared).join("/")}`
}

/** What may be an import, with the text after it: it differs if the imports do. */
function findImportLines(code: string): string {
  return code.match(/\b(?:import|from)\b\s*\(?\s*.*/g)?.join("\n") ?? ""
}

function listImports(code: string): readonly string[] {
  return ts.preProcessFile(code, true, true).importedFiles.map(({ fileName }) => fileName)
}
