import ts from "typescript-js"
import { rootLibs } from "./lib-names.ts"
import { createModuleLoader } from "./module-loader.ts"

/** The open documents with everything they import, as TypeScript sees them. */
export interface Project {
  readonly service: ts.LanguageService
  /** Reads the libraries. */
  warmUp(): void
  /** Makes a document known, and has what it imports looked up anew. */
  open(path: string): void
  close(path: string): void
  setText(path: string, text: string): void
  getText(path: string): string
  /** The name of the file that holds a document. */
  toFileName(path: string): string
  /** Imports of vals that do not exist. */
  listMissing(path: string): readonly ts.FileReference[]
}

export interface ProjectOptions {
  readonly libs: Readonly<Record<string, string>>
  readonly baseUrl: string
  readonly readPageKey: () => string
  /** Earlier answers may be out of date. */
  readonly onTypesChanged: () => void
}

/**
 * What Deno checks with, except that a value may be of type any without anybody saying so: packages
 * have no types here, and every function that is handed to one of them would be an error.
 */
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

/** A project over the libraries; it has no documents yet. */
export function createProject({
  libs,
  baseUrl,
  readPageKey,
  onTypesChanged,
}: ProjectOptions): Project {
  const documents = new Map<string, { text: string; version: number }>()
  /** Counts changes; those of modules change how all files resolve what they import. */
  let changes = 0
  let moduleChanges = 0
  const loader = createModuleLoader({ baseUrl, readPageKey, listImports, onChange })

  function onChange(): void {
    changes += 1
    moduleChanges += 1
    onTypesChanged()
  }

  function read(fileName: string): string | undefined {
    return (
      documents.get(fileName)?.text ??
      loader.findCode(fileName) ??
      (Object.hasOwn(libs, fileName) ? libs[fileName] : undefined)
    )
  }

  const host: ts.LanguageServiceHost = {
    getCompilationSettings: () => compilerOptions,
    getProjectVersion: () => String(changes),
    getScriptFileNames: () => [...rootLibs, ...documents.keys()],
    getScriptVersion: (fileName) =>
      Object.hasOwn(libs, fileName)
        ? "1"
        : `${moduleChanges}.${documents.get(fileName)?.version ?? 0}`,
    getScriptSnapshot(fileName) {
      const text = read(fileName)
      return text === undefined ? undefined : ts.ScriptSnapshot.fromString(text)
    },
    getCurrentDirectory: () => "/",
    getDefaultLibFileName: () => "/lib/lib.esnext.d.ts",
    fileExists: (fileName) => read(fileName) !== undefined,
    readFile: read,
    // What is not ours or not here yet stays unresolved: TypeScript then takes all of it for any,
    // and its one complaint is left out.
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

  const service = ts.createLanguageService(host)
  return {
    service,
    toFileName,
    warmUp: () => void service.getProgram()?.getTypeChecker(),
    open(path) {
      loader.forget()
      if (!documents.has(toFileName(path)))
        documents.set(toFileName(path), { text: "", version: 0 })
      for (const [fileName, { text }] of documents) loader.load(text, fileName)
      changes += 1
      moduleChanges += 1
    },
    close(path) {
      if (documents.delete(toFileName(path))) changes += 1
    },
    setText(path, text) {
      const fileName = toFileName(path)
      documents.set(fileName, { text, version: (documents.get(fileName)?.version ?? 0) + 1 })
      changes += 1
      loader.load(text, fileName)
    },
    getText: (path) => documents.get(toFileName(path))?.text ?? "",
    listMissing(path) {
      const text = documents.get(toFileName(path))?.text ?? ""
      return ts
        .preProcessFile(text, true, true)
        .importedFiles.filter(
          ({ fileName }) => loader.find(fileName, toFileName(path))?.state.kind === "missing",
        )
    },
  }
}

function toFileName(path: string): string {
  return `/v/${path.replace(/^\/+/, "").replace(/(\.tsx?)?$/, (extension) => extension || ".tsx")}`
}

function listImports(code: string): readonly string[] {
  return ts.preProcessFile(code, true, true).importedFiles.map(({ fileName }) => fileName)
}
