// Values that cannot be decrypted. What takes their place says why. It passes through the layers of the store as other values do,
// so that it stands in the way of those requests only that need it.
import { StorageError } from './storage-error.js'

/** No object begins with it. */
const MARK = Buffer.from('\0untransformable\0')

/** `storedAt`: the key of the value as the store has it. */
export const untransformable = (storedAt: string, reason: string): Buffer =>
  Buffer.concat([MARK, Buffer.from(JSON.stringify([storedAt, reason]))])

export const isUntransformable = (value: Uint8Array): boolean =>
  value[0] === 0 && value.length > MARK.length && MARK.equals(value.subarray(0, MARK.length))

export function readUntransformable(value: Buffer): { readonly storedAt: string; readonly reason: string } {
  const [storedAt, reason] = JSON.parse(value.toString('utf8', MARK.length)) as [string, string]
  return { storedAt, reason }
}

/** What the encrypted values of every provider begin with. */
const ENCRYPTED = Buffer.from('k8s:enc:')

export const isEncrypted = (value: Buffer): boolean =>
  value.length >= ENCRYPTED.length && ENCRYPTED.compare(value, 0, ENCRYPTED.length) === 0

/** kube-apiserver's words where it has no key. */
export const IDENTITY_ERROR = 'identity transformer tried to read encrypted data'

/** For keys that the server itself needs. */
export function checkInClear(key: string, value: Buffer): void {
  if (!isEncrypted(value)) return
  throw new StorageError(
    'corrupt',
    `the value of ${key} is encrypted; start with the --encryption-provider-config that it was encrypted with`,
  )
}
