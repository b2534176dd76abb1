/** The records of the API as the types of the official client describe them. */
export interface Page<Item> {
  readonly data: readonly Item[]
  readonly links: { readonly next?: string; readonly prev?: string }
}

export interface User {
  readonly id: string
  readonly username: string | null
  readonly type: "user" | "org"
  readonly bio: string | null
  readonly profileImageUrl: string | null
  readonly url: string
  readonly links: { readonly self: string }
}

export interface Profile extends User {
  readonly email: string | null
  readonly tier: "free" | "pro" | "business" | null
}

type Privacy = "public" | "unlisted" | "private"

export interface Val {
  readonly id: string
  readonly name: string
  readonly description: string | null
  readonly imageUrl: string | null
  readonly privacy: Privacy
  readonly createdAt: string
  readonly author: {
    readonly id: string
    readonly type: "user" | "org"
    readonly username: string | null
  }
  readonly links: { readonly self: string; readonly html: string }
}

export interface ValInput {
  readonly name: string
  readonly privacy: Privacy
  readonly description?: string
  readonly orgId?: string
}

export interface ValsQuery {
  readonly limit?: number
  readonly cursor?: string
  readonly privacy?: Privacy
  readonly user_id?: string
}

export interface Branch {
  readonly id: string
  readonly name: string
  readonly version: number
  readonly createdAt: string
  readonly updatedAt: string
  readonly forkedBranchId: string | null
  readonly links: { readonly self: string; readonly html: string }
}

export interface BranchInput {
  readonly name: string
  readonly branchId?: string
}

/** The types of files that have a text. */
export type TextType = "file" | "script" | "http" | "interval" | "email"

/** What a list of files says of a file or a directory. */
export interface ValFile {
  readonly id: string
  readonly name: string
  readonly path: string
  readonly type: TextType | "directory"
  readonly version: number
  readonly updatedAt: string
  readonly links: {
    readonly self: string
    readonly html: string
    readonly module: string
    readonly endpoint?: string
    readonly email?: string
  }
}

/** Which file, of which branch. */
interface FilePath {
  readonly path: string
  readonly branch_id?: string | undefined
}

export type FileInput = FilePath &
  (
    | { readonly type: "directory"; readonly content?: null }
    | { readonly type: TextType; readonly content: string }
  )

export interface FileChange extends FilePath {
  readonly content?: string
  readonly type?: TextType
  readonly name?: string
  readonly parent_path?: string | null
}

export interface FileQuery extends FilePath {
  readonly recursive?: boolean
  readonly version?: number | undefined
  readonly limit?: number
  readonly offset?: number
}

export interface ContentQuery extends FilePath {
  readonly version?: number
  readonly headers?: Record<string, string>
}

export interface EnvironmentVariable {
  readonly key: string
  readonly description: string | null
  readonly createdAt: string
  readonly updatedAt: string | null
}

export interface Org {
  readonly id: string
  readonly username: string
}

export interface Membership {
  readonly id: string
  readonly role: "owner" | "member" | null
  readonly user: { readonly id: string; readonly username: string | null }
}

interface TimeWindow {
  readonly direction?: "asc" | "desc"
  readonly limit?: number
  readonly start?: string
  readonly end?: string
  readonly branch_ids?: readonly string[]
  readonly file_id?: string
}

export interface TraceQuery extends TimeWindow {
  readonly order_by?: "start_time" | "end_time"
}

export interface LogQuery extends TimeWindow {
  readonly trace_ids?: readonly string[]
}

interface AttributeValue {
  readonly stringValue?: string
  readonly intValue?: string
  readonly boolValue?: boolean
  readonly doubleValue?: number
}

export interface Attribute {
  readonly key: string
  readonly value: AttributeValue
}

export interface TraceRecord {
  readonly traceId: string
  readonly name: string
  readonly startTimeUnixNano: string
  readonly endTimeUnixNano: string
  readonly attributes: readonly Attribute[]
  readonly status: { readonly code: number; readonly message: string }
}

export interface LogRecord {
  readonly traceId: string
  readonly timeUnixNano: string
  readonly severityText: string
  readonly body: AttributeValue
  readonly attributes: readonly Attribute[]
}

export interface ResultSet {
  readonly columns: readonly string[]
  readonly rows: readonly (readonly unknown[])[]
  readonly rowsAffected: number
}
