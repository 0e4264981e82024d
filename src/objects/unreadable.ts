// Values of the store that are no objects: damaged ones, and ones that cannot be decrypted. They pass through the layers of
// the store as other values do, so that they stand in the way of those requests only that need them.
import { internalError, StatusError } from '../meta/errors/status.js'
import type { Entry } from '../storage/store.js'
import { IDENTITY_ERROR, isEncrypted, isUntransformable, readUntransformable } from '../storage/untransformable.js'

/** The cause of the Status of a stored object that cannot be read. */
export class Unreadable extends Error {
  override readonly name = 'Unreadable'

  constructor(
    readonly key: string,
    /** The key as the store below has it. */
    readonly storedAt: string,
    /** Of a value that is decrypted, and no object; undefined if it cannot be decrypted. */
    readonly revision: number | undefined,
    reason: string,
  ) {
    super(reason)
  }

  get isTransformable(): boolean {
    return this.revision !== undefined
  }

  /** kube-apiserver's words with its feature gate AllowUnsafeMalformedObjectDeletion. */
  get detail(): string {
    const what = this.isTransformable ? 'object not decodable' : 'data from the storage is not transformable'
    return `${what} revision=${this.revision ?? 0}: ${this.message}`
  }

  get corruptObject(): string {
    return `StorageError: corrupt object, Code: 7, Key: ${this.key}, ResourceVersion: 0, AdditionalErrorMsg: ${this.detail}`
  }
}

/** No object begins with it. */
const UNDECODABLE = Buffer.from('\0undecodable\0')

/** Takes the place of a value whose encoding is damaged. */
export const undecodable = ({ message }: Error): Buffer => Buffer.concat([UNDECODABLE, Buffer.from(message)])

const isUndecodable = (value: Buffer): boolean => UNDECODABLE.equals(value.subarray(0, UNDECODABLE.length))

/** The error of a request that needs such a value. */
export function unreadable({ key, value, revision }: Entry, error: unknown): StatusError {
  const cause = causeOf(key, value, revision, error)
  return new StatusError(internalError(cause.message).status, { cause })
}

function causeOf(key: string, value: Buffer, revision: number, error: unknown): Unreadable {
  if (isEncrypted(value)) return new Unreadable(key, key, undefined, IDENTITY_ERROR)
  if (isUndecodable(value)) return new Unreadable(key, key, revision, value.toString('utf8', UNDECODABLE.length))
  if (!isUntransformable(value)) {
    return new Unreadable(key, key, revision, error instanceof Error ? error.message : String(error))
  }
  const { storedAt, reason } = readUntransformable(value)
  return new Unreadable(key, storedAt, undefined, reason)
}
