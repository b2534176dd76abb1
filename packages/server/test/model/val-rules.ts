import {
  currentOf,
  done,
  findByName,
  findPins,
  findVal,
  type Model,
  type ModelVal,
  type Outcome,
  type Privacy,
  type Refusal,
  refuse,
  type ValType,
  type Viewer,
} from "./model.ts"

/** Code, and what it imports. */
export interface Code {
  readonly text: string
  readonly imports: readonly string[]
}

/** What a client may say of a val; what is undefined is not sent. */
export interface ValFields {
  readonly name?: string | undefined
  readonly privacy?: Privacy | undefined
  readonly type?: ValType | undefined
  readonly readme?: string | null | undefined
}

/** POST /v1/vals */
export function createVal(
  model: Model,
  caller: Viewer,
  fields: ValFields,
  code: Code,
): Outcome<ModelVal> {
  if (!caller) return refuse(401, "unauthenticated")
  if (fields.name !== undefined && findByName(model, caller.username, fields.name))
    return refuse(409, "name_taken")
  const val: ModelVal = {
    id: "",
    name: fields.name ?? "",
    owner: caller,
    privacy: fields.privacy ?? "private",
    versions: [
      {
        version: 1,
        code: code.text,
        type: fields.type ?? "script",
        readme: fields.readme ?? null,
        imports: code.imports,
        pins: findPins(model, caller, code.imports),
        createdAt: "",
      },
    ],
    versionLast: 1,
    createdAt: "",
  }
  model.vals.push(val)
  return done(200, val)
}

/** POST /v1/vals/{val_id}/fork: an empty name stands for one that the server makes up. */
export function forkVal(
  model: Model,
  caller: Viewer,
  id: string,
  fields: Pick<ValFields, "name" | "privacy"> & { readonly version?: number | undefined },
): Outcome<ModelVal> {
  if (!caller) return refuse(401, "unauthenticated")
  const original = findVal(model, caller, id)
  if (!original) return refuse(404, "val_not_found")
  const number = fields.version ?? currentOf(original).version
  const version = original.versions.find((one) => one.version === number)
  if (!version) return refuse(404, "version_not_found")
  const isTaken = (name: string) => findByName(model, caller.username, name) !== undefined
  if (fields.name !== undefined && isTaken(fields.name)) return refuse(409, "name_taken")
  const free = version.imports.filter((address) => !version.pins.has(address))
  const val: ModelVal = {
    id: "",
    owner: caller,
    createdAt: "",
    versionLast: 1,
    name: fields.name ?? (isTaken(original.name) ? "" : original.name),
    privacy: fields.privacy ?? "private",
    versions: [
      {
        version: 1,
        type: version.type,
        readme: version.readme,
        code: original.owner === caller ? version.code : withOwner(version.code, original),
        imports: version.imports,
        pins: new Map([...findPins(model, caller, free), ...version.pins]),
        createdAt: "",
      },
    ],
    origin: { val: original, version: number },
  }
  model.vals.push(val)
  return done(201, val)
}

/** Relative imports name the owner of the original. Types, comments and texts stay as they are. */
function withOwner(code: string, { owner }: ModelVal): string {
  return code
    .split("\n")
    .map((line) =>
      /^(?:import type|\/\/|const text)/.test(line)
        ? line
        : line.replace('"./', `"../${owner.username}/`),
    )
    .join("\n")
}

/** PUT /v1/vals: the name says which val is meant, in the case in which it is written there. */
export function saveVal(
  model: Model,
  caller: Viewer,
  fields: ValFields & { readonly name: string },
  code: Code,
  ifMatch: number | undefined,
): Outcome<ModelVal> {
  if (!caller) return refuse(401, "unauthenticated")
  const val = findByName(model, caller.username, fields.name)
  if (val && val.name !== fields.name) return refuse(409, "name_taken")
  // What is not there has moved on from whatever version the caller has seen.
  if (ifMatch !== undefined && (!val || currentOf(val).version !== ifMatch))
    return refuse(412, "version_conflict")
  if (!val) return createVal(model, caller, fields, code)
  applyFields(model, val, { ...fields, name: undefined }, code)
  return done(200, val)
}

/** PUT /v1/vals/{val_id} */
export function updateVal(
  model: Model,
  caller: Viewer,
  id: string,
  fields: ValFields,
  ifMatch: number | undefined,
): Outcome {
  const val = findWritable(model, caller, id, ifMatch)
  if ("code" in val) return val
  if (isTaken(model, val, fields.name)) return refuse(409, "name_taken")
  applyFields(model, val, fields)
  return done(204, undefined)
}

/** POST /v1/vals/{val_id}/versions */
export function saveVersion(
  model: Model,
  caller: Viewer,
  id: string,
  fields: ValFields,
  code: Code,
  ifMatch: number | undefined,
): Outcome<ModelVal> {
  const val = findWritable(model, caller, id, ifMatch)
  if ("code" in val) return val
  if (isTaken(model, val, fields.name)) return refuse(409, "name_taken")
  const isNewCode = currentOf(val).code !== code.text
  applyFields(model, val, fields, code)
  return done(isNewCode ? 201 : 200, val)
}

/** DELETE /v1/vals/{val_id}/versions/{version} */
export function deleteVersion(
  model: Model,
  caller: Viewer,
  id: string,
  version: number,
  ifMatch: number | undefined,
): Outcome {
  const val = findWritable(model, caller, id, ifMatch)
  if ("code" in val) return val
  if (!val.versions.some((one) => one.version === version)) return refuse(404, "version_not_found")
  if (val.versions.length === 1) return refuse(409, "last_version")
  val.versions = val.versions.filter((one) => one.version !== version)
  return done(204, undefined)
}

/** DELETE /v1/vals/{val_id} */
export function deleteVal(
  model: Model,
  caller: Viewer,
  id: string,
  ifMatch: number | undefined,
): Outcome {
  const val = findWritable(model, caller, id, ifMatch)
  if ("code" in val) return val
  model.vals = model.vals.filter((other) => other !== val)
  model.likes = model.likes.filter((like) => like.val !== val)
  model.comments = model.comments.filter((comment) => comment.val !== val)
  return done(204, undefined)
}

/** The val, if the caller may change it: 404 before 403 before 412. */
function findWritable(
  model: Model,
  caller: Viewer,
  id: string,
  ifMatch: number | undefined,
): ModelVal | Refusal {
  if (!caller) return refuse(401, "unauthenticated")
  const val = findVal(model, caller, id)
  if (!val) return refuse(404, "val_not_found")
  if (val.owner !== caller) return refuse(403, "not_owner")
  if (ifMatch !== undefined && currentOf(val).version !== ifMatch)
    return refuse(412, "version_conflict")
  return val
}

function isTaken(model: Model, val: ModelVal, name: string | undefined): boolean {
  const other = name === undefined ? undefined : findByName(model, val.owner.username, name)
  return other !== undefined && other !== val
}

/** Code, type and readme are files of a version: if one of them changes, there is a new version. */
function applyFields(model: Model, val: ModelVal, fields: ValFields, code?: Code): void {
  val.name = fields.name ?? val.name
  val.privacy = fields.privacy ?? val.privacy
  const current = currentOf(val)
  const type = fields.type ?? current.type
  const readme = fields.readme === undefined ? current.readme : fields.readme
  const newCode = code && code.text !== current.code ? code : undefined
  if (!newCode && type === current.type && readme === current.readme) return
  val.versionLast += 1
  const { text, imports } = newCode ?? { text: current.code, imports: current.imports }
  const pins = newCode ? findPins(model, val.owner, newCode.imports) : current.pins
  const version = val.versionLast
  val.versions.push({ version, code: text, type, readme, imports, pins, createdAt: "" })
}
