import {
  currentOf,
  done,
  findByName,
  findPins,
  findVal,
  type ModelVal,
  type Outcome,
  type Privacy,
  type Refusal,
  refuse,
  type ValType,
  type Viewer,
  type World,
} from "./world.ts"

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
  world: World,
  caller: Viewer,
  fields: ValFields,
  code: Code,
): Outcome<ModelVal> {
  if (!caller) return refuse(401, "unauthenticated")
  if (fields.name !== undefined && findByName(world, caller.username, fields.name))
    return refuse(409, "name_taken")
  const val: ModelVal = {
    id: "",
    name: fields.name ?? "",
    owner: caller,
    privacy: fields.privacy ?? "private",
    type: fields.type ?? "script",
    readme: fields.readme ?? null,
    versions: [
      {
        version: 1,
        code: code.text,
        imports: code.imports,
        pins: findPins(world, caller, code.imports),
        createdAt: "",
      },
    ],
    versionLast: 1,
    createdAt: "",
  }
  world.vals.push(val)
  return done(200, val)
}

/** PUT /v1/vals: the name says which val is meant, in the case in which it is written there. */
export function saveVal(
  world: World,
  caller: Viewer,
  fields: ValFields & { readonly name: string },
  code: Code,
  ifMatch: number | undefined,
): Outcome<ModelVal> {
  if (!caller) return refuse(401, "unauthenticated")
  const val = findByName(world, caller.username, fields.name)
  if (val && val.name !== fields.name) return refuse(409, "name_taken")
  // What is not there has moved on from whatever version the caller has seen.
  if (ifMatch !== undefined && (!val || currentOf(val).version !== ifMatch))
    return refuse(412, "version_conflict")
  if (!val) return createVal(world, caller, fields, code)
  applyFields(val, { ...fields, name: undefined })
  applyCode(world, val, code)
  return done(200, val)
}

/** PUT /v1/vals/{val_id} */
export function updateVal(
  world: World,
  caller: Viewer,
  id: string,
  fields: ValFields,
  ifMatch: number | undefined,
): Outcome {
  const val = findWritable(world, caller, id, ifMatch)
  if ("code" in val) return val
  if (isTaken(world, val, fields.name)) return refuse(409, "name_taken")
  applyFields(val, fields)
  return done(204, undefined)
}

/** POST /v1/vals/{val_id}/versions */
export function saveVersion(
  world: World,
  caller: Viewer,
  id: string,
  fields: ValFields,
  code: Code,
  ifMatch: number | undefined,
): Outcome<ModelVal> {
  const val = findWritable(world, caller, id, ifMatch)
  if ("code" in val) return val
  if (isTaken(world, val, fields.name)) return refuse(409, "name_taken")
  applyFields(val, fields)
  return done(applyCode(world, val, code) ? 201 : 200, val)
}

/** DELETE /v1/vals/{val_id}/versions/{version} */
export function deleteVersion(
  world: World,
  caller: Viewer,
  id: string,
  version: number,
  ifMatch: number | undefined,
): Outcome {
  const val = findWritable(world, caller, id, ifMatch)
  if ("code" in val) return val
  if (!val.versions.some((one) => one.version === version)) return refuse(404, "version_not_found")
  if (val.versions.length === 1) return refuse(409, "last_version")
  val.versions = val.versions.filter((one) => one.version !== version)
  return done(204, undefined)
}

/** DELETE /v1/vals/{val_id} */
export function deleteVal(
  world: World,
  caller: Viewer,
  id: string,
  ifMatch: number | undefined,
): Outcome {
  const val = findWritable(world, caller, id, ifMatch)
  if ("code" in val) return val
  world.vals = world.vals.filter((other) => other !== val)
  world.likes = world.likes.filter((like) => like.val !== val)
  world.comments = world.comments.filter((comment) => comment.val !== val)
  return done(204, undefined)
}

/** The val, if the caller may change it: 404 before 403 before 412. */
function findWritable(
  world: World,
  caller: Viewer,
  id: string,
  ifMatch: number | undefined,
): ModelVal | Refusal {
  if (!caller) return refuse(401, "unauthenticated")
  const val = findVal(world, caller, id)
  if (!val) return refuse(404, "val_not_found")
  if (val.owner !== caller) return refuse(403, "not_owner")
  if (ifMatch !== undefined && currentOf(val).version !== ifMatch)
    return refuse(412, "version_conflict")
  return val
}

function isTaken(world: World, val: ModelVal, name: string | undefined): boolean {
  const other = name === undefined ? undefined : findByName(world, val.owner.username, name)
  return other !== undefined && other !== val
}

function applyFields(val: ModelVal, fields: ValFields): void {
  val.name = fields.name ?? val.name
  val.privacy = fields.privacy ?? val.privacy
  val.type = fields.type ?? val.type
  if (fields.readme !== undefined) val.readme = fields.readme
}

/** Whether it made a new version: the code of the current one does not. */
function applyCode(world: World, val: ModelVal, code: Code): boolean {
  if (currentOf(val).code === code.text) return false
  val.versionLast += 1
  const pins = findPins(world, val.owner, code.imports)
  val.versions.push({
    version: val.versionLast,
    code: code.text,
    imports: code.imports,
    pins,
    createdAt: "",
  })
  return true
}
