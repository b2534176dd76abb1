import ts from "typescript-js"
import { createOwnVals, knownFileName, offeredStandard, toKnownCode } from "./known-modules.ts"
import { areTogether, findModuleAddress, toFileName } from "./module-address.ts"
import { createModuleLoader } from "./module-loader.ts"
import { createNodeTypes } from "./node-types.ts"
import { createPackageTypes, type LockedVersion } from "./package-types.ts"
import {
  compilerOptions,
  createHost,
  type Document,
  findFile,
  listKnown,
  type ProjectFiles,
} from "./project-host.ts"
import { createValConfigs } from "./val-configs.ts"
import { findWorlds, isHtml, type World } from "./worlds/find-worlds.ts"
import { createLateFiles, type LateFilesOptions } from "./worlds/late-files.ts"

/** The open documents and their imports, for TypeScript. */
export interface Project {
  /** TypeScript with the globals of the world that a document belongs to. */
  findService(path: string): ts.LanguageService
  /** Whether the globals of a document are loaded; without them, all of its names look wrong. */
  hasGlobals(path: string): boolean
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
  readonly loadNodeTypes: LateFilesOptions["load"]
  readonly loadDomTypes: LateFilesOptions["load"]
  /** Earlier results may be out of date. */
  readonly onTypesChanged: () => void
}

/** A project with the libraries and without documents. */
export function createProject(options: ProjectOptions): Project {
  const { libs, baseUrl, readPageKey, loadNodeTypes, loadDomTypes, onTypesChanged } = options
  const documents = new Map<string, Document>()
  const isOpen = (fileName: string) => documents.has(fileName)
  const configs = createValConfigs()
  const findAddress = (specifier: string, importer: string) => {
    const mapped = configs.map({ specifier, importer })
    return findModuleAddress(mapped.specifier, mapped.importer, baseUrl)
  }
  const loader = createModuleLoader({
    baseUrl,
    readPageKey,
    findAddress,
    isOpen,
    listImports,
    onChange,
  })
  const packages = createPackageTypes({ baseUrl, readPageKey, compilerOptions, onChange })
  const nodeTypes = createNodeTypes({ load: loadNodeTypes, onChange })
  const domTypes = createLateFiles({ load: loadDomTypes, onChange })
  const ownVals = createOwnVals(baseUrl, readPageKey)
  const files: ProjectFiles = {
    libs,
    documents,
    loader,
    packages,
    nodeTypes,
    domTypes,
    configs,
    findAddress,
    offersStandard: false,
    changes: 0,
    moduleChanges: 0,
  }

  function onChange(): void {
    files.changes += 1
    files.moduleChanges += 1
    onTypesChanged()
  }

  const services = createServices(files)
  return {
    ...services,
    toFileName,
    warmUp: () => void services.get("server").getProgram()?.getTypeChecker(),
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

/** A service for each world that a document belongs to, made when it is first asked for. */
function createServices(files: ProjectFiles) {
  const services = new Map<World, ts.LanguageService>()
  let worlds: ReadonlyMap<string, World> = new Map()
  let worldChanges = -1

  const findWorld = (path: string): World => {
    if (worldChanges !== files.changes)
      worlds = findWorlds({
        files: files.documents,
        resolve: (specifier, importer) => files.findAddress(specifier, importer)?.fileName,
        wantsDom: files.configs.wantsDom,
      })
    worldChanges = files.changes
    const world = worlds.get(toFileName(path)) ?? "server"
    if (world !== "server" && !files.domTypes.isLoaded()) files.domTypes.want()
    return world
  }

  const get = (world: World): ts.LanguageService => {
    const service = services.get(world) ?? ts.createLanguageService(createHost(files, world))
    services.set(world, service)
    return service
  }

  return {
    get,
    findService: (path: string) => get(files.domTypes.isLoaded() ? findWorld(path) : "server"),
    hasGlobals: (path: string) => findWorld(path) === "server" || files.domTypes.isLoaded(),
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

function listOwnFiles(
  documents: ReadonlyMap<string, Document>,
  path: string,
): readonly ImportableModule[] {
  const own = toFileName(path)
  return [...documents.keys()]
    .filter((fileName) => fileName !== own && !isConfig(fileName) && !isHtml(fileName))
    .filter((fileName) => areTogether(fileName, own))
    .map((fileName) => ({ specifier: toRelative(own, fileName), fileName }))
}

/** Whether a file is a deno.json, which says what others import. */
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
