// How values are encrypted on their way to the store, as kube-apiserver does it: a value begins with the prefix of the provider
// and of the key that encrypted it, so that several of them are in use while data is moved from one to the next.
import { type Awaitable, andThen, orElse } from '../../base/awaitable.js'
import { IDENTITY_ERROR, isEncrypted } from '../untransformable.js'

export interface TransformContext {
  /** `secrets` or `deployments.apps`, for metrics. */
  readonly resource: string
  /** The key of the value in the store: a value that is moved to another key cannot be decrypted there. */
  readonly authenticated: Buffer
}

export interface Decrypted {
  readonly data: Buffer
  /** The value would be encrypted in another way now, so that it is written again even if nothing in it changes. */
  readonly isStale: boolean
}

export interface Transformer {
  /** Rejects if the value cannot be encrypted. */
  toStorage(data: Buffer, context: TransformContext): Awaitable<Buffer>
  /** Rejects if the value cannot be decrypted. */
  fromStorage(data: Buffer, context: TransformContext): Awaitable<Decrypted>
}

export interface PrefixTransformer {
  readonly prefix: string
  readonly transformer: Transformer
}

/** Counts each use of a transformer, for metrics; `error` is undefined if it succeeded. */
export type RecordTransformation = (
  use: 'to_storage' | 'from_storage',
  resource: string,
  prefix: string,
  seconds: number,
  error: unknown,
) => void

export const fresh = (data: Buffer): Decrypted => ({ data, isStale: false })

/**
 * The first transformer writes. Each whose prefix a value has may read it, in their order: the same provider may be there
 * several times with other keys.
 */
export function prefixTransformers(
  transformers: readonly PrefixTransformer[],
  noMatch: string,
  record: RecordTransformation,
): Transformer {
  const first = transformers[0]!
  const firstPrefix = Buffer.from(first.prefix)
  const prefixes = transformers.map(({ prefix }) => Buffer.from(prefix))
  const has = (data: Buffer, prefix: Buffer): boolean =>
    data.length >= prefix.length && prefix.compare(data, 0, prefix.length) === 0

  return {
    toStorage(data, context) {
      const began = performance.now()
      const done = (error: unknown): void =>
        record('to_storage', context.resource, first.prefix, secondsSince(began), error)
      return orElse(
        () =>
          andThen(first.transformer.toStorage(data, context), encrypted => {
            done(undefined)
            return firstPrefix.length === 0 ? encrypted : Buffer.concat([firstPrefix, encrypted])
          }),
        error => {
          done(error)
          throw error
        },
      )
    },

    fromStorage(data, context) {
      const began = performance.now()
      const errors: string[] = []
      const next = (from: number): Awaitable<Decrypted> => {
        const i = prefixes.findIndex((prefix, at) => at >= from && has(data, prefix))
        if (i === -1) return fail()
        const { prefix, transformer } = transformers[i]!
        const done = (error: unknown): void =>
          record('from_storage', context.resource, prefix || 'identity', secondsSince(began), error)
        return orElse(
          () =>
            andThen(transformer.fromStorage(data.subarray(prefixes[i]!.length), context), found => {
              done(undefined)
              return i === 0 ? found : { ...found, isStale: true }
            }),
          error => {
            // Identity refuses encrypted values; a later provider may have encrypted this one.
            if (prefix !== '') {
              done(error)
              errors.push((error as Error).message)
            }
            return next(i + 1)
          },
        )
      }
      const fail = (): never => {
        const distinct = [...new Set(errors)]
        if (distinct.length > 0) throw new Error(distinct.length === 1 ? distinct[0] : `[${distinct.join(', ')}]`)
        const error = new Error(noMatch)
        record('from_storage', context.resource, 'unknown', secondsSince(began), error)
        throw error
      }
      return next(0)
    },
  }
}

const secondsSince = (began: number): number => (performance.now() - began) / 1000

/** Values in the clear. */
export const IDENTITY: Transformer = {
  toStorage: data => data,
  fromStorage(data) {
    if (isEncrypted(data)) throw new Error(IDENTITY_ERROR)
    return fresh(data)
  },
}
