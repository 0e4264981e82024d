// Values that are encrypted with the help of a KMS plugin (API v2). The plugin encrypts a seed, once; the keys of values are
// derived from it here. So a write does not call the plugin, and a read only if its seed is not known yet.
//
// The plugin says in its status which of its keys is in use. When that changes there is a new seed, and values under the old
// one are stale. A plugin that fails lets values be written for three minutes more: after that it would not be known any more
// under which key a migration writes.
import { createHash, randomBytes, randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Awaitable, andThen } from '../../base/awaitable.js'
import { createExpiringCache } from '../../base/expiring-cache.js'
import type { Logger } from '../../base/logger.js'
import { createSocketClient, type Method, rpcError } from '../grpc.js'
import { aesGcm, aesGcmOfSeed } from './aes.js'
import {
  type Annotations,
  checkEncryptedObject,
  DECRYPT,
  DekSource,
  decodeEncryptedObject,
  ENCRYPT,
  encodeEncryptedObject,
  keyIdError,
  STATUS,
} from './kms-messages.js'
import type { EncryptionMetrics } from './metrics.js'
import type { Transformer } from './transformer.js'

export interface KmsOptions {
  readonly name: string
  readonly endpoint: string
  readonly timeoutMs: number
  readonly metrics: EncryptionMetrics
  readonly log: Logger
  readonly now: () => number
}

export interface Kms {
  readonly transformer: Transformer
  /** Resolves if the plugin is healthy. Its answer is kept for some seconds. */
  check(): Promise<void>
  /** Resolves when the plugin was asked once, whatever it answered; then it is asked each minute. */
  start(): Promise<void>
  close(): void
}

const POLL_MS = 60_000
const POLL_FAILED_MS = 10_000
const WRITE_MS = 3 * 60_000
const HEALTHY_MS = 20_000
const UNHEALTHY_MS = 3_000
/** Of decrypted seeds. */
const CACHE_MS = 24 * 3_600_000
const MAX_CACHED = 10_000
const SEED_BYTES = 32

/** What values are written with. */
interface State {
  readonly transformer: Transformer
  readonly keyId: string
  readonly source: Buffer
  readonly annotations: Annotations
  readonly cacheKey: string
  expiresAt: number
}

export function createKms({ name, endpoint, timeoutMs, metrics, log, now }: KmsOptions): Kms {
  const client = createSocketClient({
    path: new URL(endpoint).pathname,
    onCall: (method, seconds, error) => metrics.kmsCall(name, method, seconds, error),
  })
  const call = <Request, Response>(method: Method<Request, Response>, request: Request): Promise<Response> =>
    client.call(method, request, timeoutMs).catch((error: unknown) => {
      throw rpcError(error)
    })
  const known = createExpiringCache<Transformer>(MAX_CACHED, now)
  const decrypting = new Map<string, Promise<Transformer>>()
  const closing = new AbortController()
  let state: State | undefined
  let version = ''

  // ---- reading and writing

  const remember = (cacheKey: string, transformer: Transformer): void => {
    if (!known.get(cacheKey)) metrics.dekSourceAdded(name)
    known.put(cacheKey, transformer, CACHE_MS)
  }

  const current = (): State => {
    if (!state) throw new Error('got unexpected nil transformer')
    return state
  }

  const transformer: Transformer = {
    toStorage(data, context) {
      const { transformer: writer, keyId, source, annotations, cacheKey, expiresAt } = current()
      if (now() > expiresAt) {
        throw new Error(
          `encryptedDEKSource with keyID hash ${JSON.stringify(hashOf(keyId))} expired at ${seconds(expiresAt)} (current time is ${seconds(now())})`,
        )
      }
      remember(cacheKey, writer)
      return andThen(writer.toStorage(data, context), encryptedData => {
        metrics.keyUsed('to_storage', name, keyId)
        return encodeEncryptedObject({
          encryptedData,
          keyID: keyId,
          encryptedDEKSource: source,
          annotations,
          encryptedDEKSourceType: DekSource.seed,
        })
      })
    },

    fromStorage(data, context) {
      const object = decodeEncryptedObject(data)
      checkEncryptedObject(object)
      const { keyId: currentKeyId } = current()
      const { keyID: keyId, encryptedDEKSource: source, annotations, encryptedDEKSourceType: type } = object
      return andThen(readerOf({ keyId, source, annotations, type }), reader => {
        metrics.keyUsed('from_storage', name, keyId)
        return andThen(reader.fromStorage(object.encryptedData, context), found => ({
          ...found,
          isStale: found.isStale || keyId !== currentKeyId || type !== DekSource.seed,
        }))
      })
    },
  }

  interface Source {
    readonly keyId: string
    readonly source: Buffer
    readonly annotations: Annotations
    readonly type: number
  }

  function readerOf(source: Source): Awaitable<Transformer> {
    const cacheKey = cacheKeyOf(source)
    const found = known.get(cacheKey)
    if (found) return found
    let running = decrypting.get(cacheKey)
    if (!running) {
      running = decryptSource(source, cacheKey).finally(() => decrypting.delete(cacheKey))
      decrypting.set(cacheKey, running)
    }
    return running
  }

  async function decryptSource({ keyId, source, annotations, type }: Source, cacheKey: string): Promise<Transformer> {
    metrics.cacheMiss()
    let key: Buffer
    try {
      const request = { ciphertext: source, uid: randomUUID(), keyId, annotations }
      key = (await call(DECRYPT, request)).plaintext
    } catch (error) {
      throw new Error(`failed to decrypt DEK, error: ${(error as Error).message}`, { cause: error })
    }
    const reader = type === DekSource.seed ? aesGcmOfSeed(key) : aesGcm(key)
    remember(cacheKey, reader)
    return reader
  }

  // ---- the status of the plugin

  let last: { readonly error: Error | undefined; readonly until: number } | undefined
  let checking: Promise<void> | undefined

  function check(): Promise<void> {
    if (checking) return checking
    if (last && now() < last.until) return last.error ? Promise.reject(last.error) : Promise.resolve()
    checking = askStatus()
      .then(
        () => void (last = { error: undefined, until: now() + HEALTHY_MS }),
        (error: Error) => {
          // As kube-apiserver, which keeps the error of the call.
          const kept = error.cause instanceof Error ? error.cause : error
          last = { error: kept, until: now() + UNHEALTHY_MS }
          throw error
        },
      )
      .finally(() => void (checking = undefined))
    return checking
  }

  async function askStatus(): Promise<void> {
    let status
    try {
      status = await call(STATUS, {})
    } catch (error) {
      const why = (error as Error).message
      throw new Error(`failed to perform status section of the healthz check for KMS Provider ${name}, error: ${why}`, {
        cause: error,
      })
    }
    const errors: string[] = []
    if (status.healthz !== 'ok') errors.push(`got unexpected healthz status: ${status.healthz}`)
    if (status.version !== 'v2' && status.version !== 'v2beta1') {
      errors.push(`expected KMSv2 API version v2, got ${status.version}`)
    } else {
      version ||= status.version
      if (version !== status.version) {
        errors.push(
          `KMSv2 API version should not change after the initial status response version ${version}, got ${status.version}`,
        )
      }
    }
    const wrongKey = keyIdError(status.keyId)
    if (wrongKey) {
      metrics.invalidKeyId(name, wrongKey.code)
      errors.push(`got invalid KMSv2 KeyID hash ${JSON.stringify(hashOf(status.keyId))}: ${wrongKey.message}`)
    } else {
      metrics.keyInStatus(name, status.keyId)
      await useKey(status.keyId).catch((error: Error) => errors.push(error.message))
    }
    if (errors.length === 0) return
    const all = errors.length === 1 ? errors[0] : `[${errors.join(', ')}]`
    throw new Error(`kmsv2 Provider ${name} is not healthy, error: ${all}`)
  }

  /** A new seed if the key of the plugin is another one. */
  async function useKey(keyId: string): Promise<void> {
    const expiresAt = now() + WRITE_MS
    if (state?.keyId === keyId) {
      state.expiresAt = expiresAt
      return
    }
    const uid = randomUUID()
    let why = '<nil>'
    let usedKeyId = ''
    try {
      const seed = metrics.keyGenerated(() => randomBytes(SEED_BYTES))
      const response = await call(ENCRYPT, { plaintext: seed, uid }).catch((error: Error) => {
        throw new Error(`failed to encrypt DEK, error: ${error.message}`)
      })
      const { ciphertext: source, annotations } = response
      usedKeyId = response.keyId
      const type = DekSource.seed
      checkEncryptedObject({
        keyID: usedKeyId,
        encryptedDEKSource: source,
        annotations,
        encryptedDEKSourceType: type,
        encryptedData: Buffer.of(0),
      })
      if (usedKeyId === keyId) {
        const cacheKey = cacheKeyOf({ keyId, source, annotations, type })
        state = { transformer: aesGcmOfSeed(seed), keyId, source, annotations, cacheKey, expiresAt }
        return
      }
    } catch (error) {
      why = (error as Error).message
    }
    const before = state ? hashOf(state.keyId) : ''
    throw new Error(
      `failed to rotate DEK uid=${JSON.stringify(uid)}, useSeed=true, errState=${state ? '<nil>' : 'got unexpected nil transformer'}, errGen=${why}, ` +
        `statusKeyIDHash=${JSON.stringify(hashOf(keyId))}, encryptKeyIDHash=${JSON.stringify(hashOf(usedKeyId))}, ` +
        `stateKeyIDHash=${JSON.stringify(before)}, expirationTimestamp=${state ? seconds(state.expiresAt) : '0001-01-01T00:00:00Z'}`,
    )
  }

  async function poll(wasHealthy: boolean): Promise<void> {
    for (let isHealthy = wasHealthy; !closing.signal.aborted; ) {
      try {
        await sleep(isHealthy ? POLL_MS : POLL_FAILED_MS, undefined, { ref: false, signal: closing.signal })
        await check()
        isHealthy = true
      } catch (error) {
        if (closing.signal.aborted) return
        isHealthy = false
        log.warn('a KMS plugin is not healthy', { name, reason: (error as Error).message })
      }
    }
  }

  return {
    transformer,
    check,
    async start() {
      const isHealthy = await check().then(
        () => true,
        (error: Error) => {
          log.warn('a KMS plugin is not healthy', { name, reason: error.message })
          return false
        },
      )
      void poll(isHealthy)
    },
    close() {
      closing.abort()
      client.close()
    },
  }
}

const hashOf = (text: string): string =>
  text === '' ? '' : `sha256:${createHash('sha256').update(text).digest('hex')}`

const seconds = (at: number): string => new Date(at).toISOString().replace(/\.[0-9]+/, '')

function cacheKeyOf(of: { keyId: string; source: Buffer; annotations: Annotations; type: number }): string {
  const names = Object.keys(of.annotations).toSorted()
  const annotations = names.map(name => [name, of.annotations[name]!.toString('base64')])
  return JSON.stringify([of.type, of.source.toString('base64'), of.keyId, annotations])
}
