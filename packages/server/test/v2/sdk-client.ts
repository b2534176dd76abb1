import type {
  Branch,
  BranchInput,
  ContentQuery,
  EnvironmentVariable,
  FileChange,
  FileInput,
  FileQuery,
  LogQuery,
  LogRecord,
  Membership,
  Org,
  Page,
  Profile,
  ResultSet,
  TraceQuery,
  TraceRecord,
  User,
  Val,
  ValFile,
  ValInput,
  ValsQuery,
} from "./sdk-records.ts"
import {
  type Listing,
  type ListPages,
  type Query,
  type SdkOptions,
  SdkTransport,
  toPath,
} from "./sdk-transport.ts"

type Pages = { readonly limit?: number; readonly offset?: number }

/**
 * The 36 operations of release 3.12 of the official client, which no test can install, sent by a
 * release that can be installed. It runs in Node, Bun and browsers.
 */
export class SdkClient {
  readonly #transport: SdkTransport

  constructor(options: SdkOptions) {
    this.#transport = new SdkTransport(options)
  }

  readonly alias = {
    retrieveUser: (username: string) => this.#get<User>(toPath`/v1/alias/${username}`),
    retrieveVal: (username: string, valName: string) =>
      this.#get<Val>(toPath`/v2/alias/vals/${username}/${valName}`),
  }

  readonly me = {
    retrieveProfile: () => this.#get<Profile>("/v1/me"),
    listVals: (query: Pages = {}) => this.#list<Val>("/v2/me/vals", query),
  }

  readonly users = {
    retrieve: (userId: string) => this.#get<User>(toPath`/v1/users/${userId}`),
  }

  readonly orgs = {
    list: (query: Pages = {}) => this.#list<Org>("/v2/orgs", query),
    listMemberships: (orgId: string) =>
      this.#get<readonly Membership[]>(toPath`/v2/orgs/${orgId}/memberships`),
  }

  readonly blobs = {
    list: (query: { readonly prefix?: string } = {}) =>
      this.#get<readonly { readonly key: string; readonly size: number }[]>("/v1/blob", query),
    get: (key: string) => this.#download(toPath`/v1/blob/${key}`),
    store: (key: string, content: Uint8Array | Blob) =>
      this.#transport.send<string>({
        method: "POST",
        path: toPath`/v1/blob/${key}`,
        body: content,
      }),
    delete: (key: string) => this.#delete(toPath`/v1/blob/${key}`),
  }

  readonly sqlite = {
    execute: (body: { readonly statement: unknown }) =>
      this.#send<ResultSet>("POST", "/v1/sqlite/execute", body),
    batch: (body: { readonly statements: readonly unknown[]; readonly mode?: string }) =>
      this.#send<readonly ResultSet[]>("POST", "/v1/sqlite/batch", body),
  }

  readonly emails = {
    send: (body: Query = {}) => this.#send<{ readonly message: string }>("POST", "/v1/email", body),
  }

  readonly telemetry = {
    listTraces: (query: TraceQuery = {}) =>
      this.#get<Page<TraceRecord>>("/v1/telemetry/traces", query),
    listLogs: (query: LogQuery = {}) => this.#get<Page<LogRecord>>("/v1/telemetry/logs", query),
  }

  readonly token = {
    google: (body: { readonly email: string }) =>
      this.#send<{ readonly access_token: string }>(
        "POST",
        "/v3/connections/google-docs/token",
        body,
      ),
    slack: (body: { readonly team_id: string }) =>
      this.#send<{ readonly access_token: string }>("POST", "/v3/connections/slack/token", body),
  }

  readonly vals = {
    create: (body: ValInput) => this.#send<Val>("POST", "/v2/vals", body),
    retrieve: (valId: string) => this.#get<Val>(toPath`/v2/vals/${valId}`),
    list: (query: ValsQuery = {}) => this.#list<Val>("/v2/vals", query, "cursor"),
    delete: (valId: string) => this.#delete(toPath`/v2/vals/${valId}`),
  }

  readonly branches = {
    create: (valId: string, body: BranchInput) =>
      this.#send<Branch>("POST", toPath`/v2/vals/${valId}/branches`, body),
    retrieve: (valId: string, branchId: string) =>
      this.#get<Branch>(toPath`/v2/vals/${valId}/branches/${branchId}`),
    list: (valId: string, query: Pages = {}) =>
      this.#list<Branch>(toPath`/v2/vals/${valId}/branches`, query),
    delete: (valId: string, branchId: string) =>
      this.#delete(toPath`/v2/vals/${valId}/branches/${branchId}`),
  }

  readonly valFiles = {
    create: (valId: string, { path, branch_id, ...body }: FileInput) =>
      this.#send<ValFile>("POST", toPath`/v2/vals/${valId}/files`, body, { path, branch_id }),
    retrieve: (valId: string, query: FileQuery) =>
      this.#list<ValFile>(toPath`/v2/vals/${valId}/files`, query),
    update: (valId: string, { path, branch_id, ...body }: FileChange) =>
      this.#send<ValFile>("PUT", toPath`/v2/vals/${valId}/files`, body, { path, branch_id }),
    delete: (
      valId: string,
      query: { readonly path: string; readonly recursive: boolean; readonly branch_id?: string },
    ) => this.#delete(toPath`/v2/vals/${valId}/files`, query),
    getContent: (valId: string, { headers, ...query }: ContentQuery) =>
      this.#download(toPath`/v2/vals/${valId}/files/content`, query, headers),
  }

  readonly environmentVariables = {
    create: (
      valId: string,
      body: { readonly key: string; readonly value: string; readonly description?: string },
    ) =>
      this.#send<EnvironmentVariable>(
        "POST",
        toPath`/v2/vals/${valId}/environment_variables`,
        body,
      ),
    update: (
      valId: string,
      key: string,
      body: { readonly value: string; readonly description?: string },
    ) =>
      this.#send<EnvironmentVariable>(
        "PUT",
        toPath`/v2/vals/${valId}/environment_variables/${key}`,
        body,
      ),
    list: (valId: string, query: Pages = {}) =>
      this.#list<EnvironmentVariable>(toPath`/v2/vals/${valId}/environment_variables`, query),
    delete: (valId: string, key: string) =>
      this.#delete(toPath`/v2/vals/${valId}/environment_variables/${key}`),
  }

  readonly files = {
    retrieve: (fileId: string) => this.#get<ValFile>(toPath`/v2/files/${fileId}`),
  }

  #get<T>(path: string, query: object = {}): Promise<T> {
    return this.#transport.send<T>({ method: "GET", path, query: query as Query })
  }

  #send<T>(method: "POST" | "PUT", path: string, body: object, query: Query = {}): Promise<T> {
    return this.#transport.send<T>({ method, path, query, body })
  }

  #delete(path: string, query: object = {}): Promise<null> {
    const headers = { Accept: "*/*" }
    return this.#transport.send<null>({ method: "DELETE", path, query: query as Query, headers })
  }

  #download(path: string, query: object = {}, headers: Record<string, string> = {}) {
    return this.#transport.send<Response>({
      method: "GET",
      path,
      query: query as Query,
      headers: { Accept: "application/octet-stream", ...headers },
      isBinary: true,
    })
  }

  #list<Item>(path: string, query: object, pages: ListPages = "links"): Listing<Item> {
    return this.#transport.list(path, query as Query, pages)
  }
}
