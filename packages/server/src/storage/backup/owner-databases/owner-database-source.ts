import { basename } from "node:path"
import type { LibsqlOptions } from "@hamlet/owner-databases"
import { AppError } from "../../../domain/app-error.ts"
import type { StorageHome } from "../../../domain/storage-home.ts"

/** Where the databases of users are: on a libSQL server, in a folder, or nowhere. */
export type DatabaseHome =
  | { readonly kind: "libsql"; readonly server: LibsqlOptions }
  | { readonly kind: "files"; readonly folder: string; readonly isShared: boolean }
  | { readonly kind: "none" }

/** The database of a user, or of one val of the user. */
export interface SourceDatabase extends StorageHome {
  /** Its file, or its namespace. */
  readonly place: string
  readonly bytes: number
}

/** The databases of users that a backup contains. */
export interface OwnerDatabaseSource {
  list(): AsyncGenerator<SourceDatabase, void>
  /**
   * Why a database cannot be read; undefined when it can, or when that is not known before it is
   * read.
   */
  findDamage(database: SourceDatabase): Promise<string | undefined>
  /**
   * The bytes of its file as it is at one moment. None is yielded before all were read. `name` is
   * that of its user or its val.
   */
  read(database: SourceDatabase, name: string): AsyncGenerator<Uint8Array, void>
  /** Deletes the copies that a killed backup has left. */
  removeLeftovers(): void
}

/** A database that cannot be backed up. `name` is that of its user or its val. */
export class OwnerDatabaseDamaged extends AppError {
  constructor({ valId, place }: SourceDatabase, name: string, reason: string) {
    super(
      "database_damaged",
      `Cannot back up the database of ${valId === undefined ? "user" : "val"} "${name}": ${reason} (${basename(place)}); with skipDamaged the backup leaves it out`,
    )
  }
}
