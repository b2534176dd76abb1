import { summarizeVal } from "../../src/domain/vals/summary.ts"
import { type TestUser, testBaseUrl } from "../support/api.ts"
import {
  countForks,
  countLikes,
  countReferences,
  currentOf,
  findOrigin,
  type Model,
  type ModelComment,
  type ModelSecret,
  type ModelToken,
  type ModelVal,
  type ModelVersion,
  type Viewer,
} from "./model.ts"

// What answers must say of each record. Left out is what the contract leaves to the server: `url`,
// `updatedAt`, `lastUsedAt`, the times of secrets.

export function viewVal(
  model: Model,
  viewer: Viewer,
  val: ModelVal,
  version: ModelVersion = currentOf(val),
) {
  const origin = findOrigin(model, val, viewer)
  const self = `${testBaseUrl}/v1/vals/${val.id}`
  const endpoint = `http://${val.owner.username}-${val.name}.hamlet.test`.toLowerCase()
  return {
    id: val.id,
    name: val.name,
    version: version.version,
    code: version.code,
    readme: version.readme,
    summary: summarizeVal(version),
    privacy: val.privacy,
    public: val.privacy === "public",
    type: version.type,
    links: {
      self,
      versions: `${self}/versions`,
      module: `${testBaseUrl}/v/${val.owner.username}/${val.name}`,
      ...(version.type === "http" ? { endpoint } : {}),
    },
    author: viewAuthor(val.owner),
    description: null,
    likeCount: countLikes(model, val),
    referenceCount: countReferences(model, val),
    forkCount: countForks(model, val),
    files: currentOf(val).readme === null ? 1 : 2,
    branchCount: 1,
    forkedFrom: origin
      ? {
          id: origin.val.id,
          name: origin.val.name,
          version: origin.version,
          author: viewAuthor(origin.val.owner),
        }
      : null,
    createdAt: val.createdAt,
    versionCreatedAt: version.createdAt,
    runStartAt: null,
    runEndAt: null,
  }
}

export function viewVersion(val: ModelVal, version: ModelVersion) {
  return {
    val_id: val.id,
    version: version.version,
    code: version.code,
    createdAt: version.createdAt,
    note: null,
    author: viewAuthor(val.owner),
    runStartAt: null,
    runEndAt: null,
  }
}

export function viewComment(comment: ModelComment) {
  return {
    id: comment.id,
    comment: comment.comment,
    createdAt: comment.createdAt,
    author: viewAuthor(comment.author),
    val: viewMention(comment.val),
  }
}

export function viewReference(from: ModelVal, to: ModelVal) {
  return { reference: viewEnd(from), dependsOn: viewEnd(to) }
}

export function viewToken(token: ModelToken) {
  return {
    id: token.id,
    name: token.name,
    scopes: [...token.scopes],
    createdAt: token.createdAt,
    expiresAt: token.expiresAt,
  }
}

export function viewSecret(secret: ModelSecret) {
  return { name: secret.name, hosts: secret.hosts }
}

/** An item of an answer, without the keys that the views leave out. */
export function withoutServersOwn(item: Record<string, unknown>): Record<string, unknown> {
  const {
    url: _url,
    updatedAt: _updatedAt,
    lastUsedAt: _lastUsedAt,
    referencedAt: _referencedAt,
    token: _token,
    ...rest
  } = item
  if (!("hosts" in rest)) return rest
  const { createdAt: _createdAt, ...secret } = rest
  return secret
}

function viewAuthor(user: TestUser) {
  return { id: user.id, username: user.username }
}

function viewMention(val: ModelVal) {
  return {
    id: val.id,
    name: val.name,
    version: currentOf(val).version,
    privacy: val.privacy,
    public: val.privacy === "public",
    author: viewAuthor(val.owner),
    author_id: val.owner.id,
    username: val.owner.username,
  }
}

function viewEnd(val: ModelVal) {
  return {
    id: val.id,
    name: val.name,
    username: val.owner.username,
    author_id: val.owner.id,
    author: viewAuthor(val.owner),
  }
}
