import ts from "typescript-js"
import { createModuleLoader, type ModuleLoader } from "./module-loader.ts"

/** The global type files; the compiler options add TypeScript's own libraries. */
const rootLibs = ["/lib/deno.d.ts", "/lib/prelude.d.ts"] as const

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
  /** The file name of a document. */
  toFileName(path: string): string
  /** Imports of vals that do not exist. */
  listMissing(path: string): readonly ts.FileReference[]
}

export interface ProjectOptions {
  readonly libs: Readonly<Record<string, string>>
  readonly baseUrl: string
  readonly readPageKey: () => string
  /** Earlier results may be out of date. */
  readonly onTypesChanged: () => void
}

/** Deno's options without `noImplicitAny`: packages have no types here, so callbacks are any. */
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
  skipLibCheck: true,
  noEmit: true,
}

interface ProjectFiles {
  readonly libs: Readonly<Record<string, string>>
  readonly documents: Map<string, { text: string; version: number }>
  readonly loader: ModuleLoader
  /** Counts changes. A change of modules affects how all files resolve their imports. */
  changes: number
  moduleChanges: number
}

/** A project with the libraries and without documents. */
export function createProject(options: ProjectOptions): Project {
  const { libs, baseUrl, readPageKey, onTypesChanged } = options
  const loader = createModuleLoader({ baseUrl, readPageKey, listImports, onChange })
  const files: ProjectFiles = { libs, documents: new Map(), loader, changes: 0, moduleChanges: 0 }
  const { documents } = files

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
    open(path) {
      loader.dropStale()
      if (!documents.has(toFileName(path)))
        documents.set(toFileName(path), { text: "", version: 0 })
      for (const [fileName, { text }] of documents) loader.load(text, fileName)
      files.changes += 1
      files.moduleChanges += 1
    },
    close(path) {
      if (documents.delete(toFileName(path))) files.changes += 1
    },
    setText(path, text) {
      const fileName = toFileName(path)
      documents.set(fileName, { text, version: (documents.get(fileName)?.version ?? 0) + 1 })
      files.changes += 1
      loader.load(text, fileName)
    },
    getText: (path) => documents.get(toFileName(path))?.text ?? "",
    listMissing(path) {
      const text = documents.get(toFileName(path))?.text ?? ""
      return ts.preProcessFile(text, true, true).importedFiles.filter(({ fileName }) => {
        const found = loader.find(fileName, toFileName(path))
        return found?.state.kind === "missing" && !found.mayBeElsewhere
      })
    },
  }
}

function createHost(files: ProjectFiles): ts.LanguageServiceHost {
  const { libs, documents, loader } = files
  const read = (fileName: string) =>
    documents.get(fileName)?.text ??
    loader.findCode(fileName) ??
    (Object.hasOwn(libs, fileName) ? libs[fileName] : undefined)
  return {
    getCompilationSettings: () => compilerOptions,
    getProjectVersion: () => String(files.changes),
    getScriptFileNames: () => [...rootLibs, ...documents.keys()],
    getScriptVersion: (fileName) =>
      Object.hasOwn(libs, fileName)
        ? "1"
        : `${files.moduleChanges}.${documents.get(fileName)?.version ?? 0}`,
    getScriptSnapshot(fileName) {
      const text = read(fileName)
      return text === undefined ? undefined : ts.ScriptSnapshot.fromString(text)
    },
    getCurrentDirectory: () => "/",
    getDefaultLibFileName: () => "/lib/lib.esnext.d.ts",
    fileExists: (fileName) => read(fileName) !== undefined,
    readFile: read,
    // Other modules stay unresolved: TypeScript takes them as any, and `diagnose` drops its error.
    resolveModuleNameLiterals: (literals, importer) =>
      literals.map(({ text }) => {
        const module = loader.find(text, importer)
        const extension = module?.fileName.endsWith(".ts") ? ts.Extension.Ts : ts.Extension.Tsx
        return {
          resolvedModule:
            module?.state.kind === "loaded"
              ? { resolvedFileName: module.fileName, extension }
              : undefined,
        }
      }),
  }
}

function toFileName(path: string): string {
  return `/v/${path.replace(/^\/+/, "").replace(/(\.tsx?)?$/, (extension) => extension || ".tsx")}`
}

function listImports(code: string): readonly string[] {
  return ts.preProcessFile(code, true, true).importedFiles.map(({ fileName }) => fileName)
}
