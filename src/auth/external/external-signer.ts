// Signs tokens of service accounts by another process (--service-account-signing-endpoint), and knows the keys by which they
// are verified. The keys are read again as often as the signer says, and when a token names one that is not known.
import { createPublicKey } from 'node:crypto'
import type { Logger } from '../../base/logger.js'
import type { MetricsRegistry } from '../../base/metrics.js'
import { decodeJson } from '../../codec/json.js'
import { internalError } from '../../meta/errors/status.js'
import { quote } from '../../meta/go/go-text.js'
import { stringAt } from '../../meta/values/access.js'
import { isObject, type ValueObject } from '../../meta/values/value.js'
import { createSocketClient, type GrpcClient, grpcCodeOf } from '../../storage/grpc.js'
import { algorithmOf, type TokenKey } from '../authn/signing-key.js'
import { FETCH_KEYS, type KeysResponse, METADATA, SIGN } from './signer-messages.js'
import { type SignerMetrics, signerMetrics } from './signer-metrics.js'

export interface ExternalKey extends TokenKey {
  /** It verifies tokens that were signed before, and is not published. */
  readonly isHidden: boolean
}

export interface ExternalSigner {
  /** The longest time for which it signs tokens. */
  readonly maxSeconds: number
  /** The token with these claims. */
  sign(claims: ValueObject): Promise<string>
  /** Those of an id, or all. Reads them again if there are none. */
  keysFor(id: string | undefined): Promise<readonly ExternalKey[]>
  /** All that are known. */
  known(): readonly ExternalKey[]
  stop(): void
}

export interface ExternalSignerOptions {
  /** `/run/signer.sock`. */
  readonly path: string
  readonly metrics: MetricsRegistry
  readonly log: Logger
}

const KEYS_TIMEOUT_MS = 60_000
const METADATA_TIMEOUT_MS = 10_000
const SIGN_TIMEOUT_MS = 30_000
const RETRY_MS = 10_000
const MIN_TOKEN_SECONDS = 600
const ALGORITHMS = new Set(['RS256', 'ES256', 'ES384', 'ES512'])
const MAX_ID_LENGTH = 1024
/** A timer of Node takes at most this many milliseconds. */
const MAX_TIMER_MS = 2 ** 31 - 1

/** Resolves when the signer has answered; rejects if it does not within a minute. */
export async function openExternalSigner({ path, metrics, log }: ExternalSignerOptions): Promise<ExternalSigner> {
  const counts = signerMetrics(metrics)
  const client = createSocketClient({ path, onCall: counts.called })
  try {
    const keys = await followKeys(client, counts, log)
    const { maxTokenExpirationSeconds: maxSeconds } = await client.call(METADATA, {}, METADATA_TIMEOUT_MS)
    if (maxSeconds < MIN_TOKEN_SECONDS) {
      throw new Error(
        `max token life supported by external-jwt-signer (${maxSeconds}s) is less than acceptable (min ${MIN_TOKEN_SECONDS}s)`,
      )
    }
    return {
      ...keys,
      maxSeconds,
      sign: claims => signToken(client, keys, counts, claims),
      stop() {
        keys.stop()
        client.close()
      },
    }
  } catch (error) {
    client.close()
    throw error
  }
}

// ---- signing

async function signToken(client: GrpcClient, keys: Keys, counts: SignerMetrics, claims: ValueObject): Promise<string> {
  const fail = (why: string): Error => internalError(`failed to generate token: ${why}`)
  const content = Buffer.from(JSON.stringify(claims)).toString('base64url')
  let error: unknown
  try {
    const { header, signature } = await client.call(SIGN, { claims: content }, SIGN_TIMEOUT_MS).catch(cause => {
      error = cause
      throw fail(`while signing jwt: ${messageOf(cause)}`)
    })
    const wrong = await wrongInHeader(header, keys)
    if (wrong !== undefined) throw fail(`while validating header: ${wrong}`)
    if (signature === '') throw fail('empty signature returned')
    counts.signed('OK')
    return `${header}.${content}.${signature}`
  } catch (refused) {
    counts.signed(grpcCodeOf(error))
    throw refused
  }
}

/** Why a token with this header could not be verified. */
async function wrongInHeader(encoded: string, keys: Keys): Promise<string | undefined> {
  let header: unknown
  try {
    header = decodeJson(Buffer.from(encoded, 'base64url')).value
  } catch (error) {
    return `while parsing header JSON: ${messageOf(error)}`
  }
  if (!isObject(header as ValueObject)) return 'while parsing header JSON: it is no object'
  const unknown = Object.keys(header as ValueObject).find(name => !['alg', 'kid', 'typ'].includes(name))
  if (unknown !== undefined) return `while parsing header JSON: json: unknown field ${quote(unknown)}`
  const [alg, kid, typ] = ['alg', 'kid', 'typ'].map(name => stringAt(header as ValueObject, name))
  if (typ !== 'JWT') return 'bad type'
  if (!kid) return 'key id missing'
  if (kid.length > MAX_ID_LENGTH) return 'key id longer than 1 kb'
  if (!ALGORITHMS.has(alg!)) return `bad signing algorithm ${quote(alg!)}`
  if ((await keys.keysFor(kid)).some(({ isHidden }) => isHidden)) {
    return `key used for signing JWT (kid: ${kid}) is excluded from OIDC discovery docs`
  }
  return undefined
}

// ---- keys

type Keys = Pick<ExternalSigner, 'keysFor' | 'known' | 'stop'>

/** Resolves when the keys were read once. */
async function followKeys(client: GrpcClient, counts: SignerMetrics, log: Logger): Promise<Keys> {
  let known: readonly ExternalKey[] = []
  let running: Promise<number> | undefined
  let timer: NodeJS.Timeout | undefined
  let isStopped = false

  /** The time until they are to be read again. Callers at the same time share one request. */
  const read = (): Promise<number> =>
    (running ??= client
      .call(FETCH_KEYS, {}, KEYS_TIMEOUT_MS)
      .then(response => {
        known = keysOf(response)
        counts.fetched('OK', timeOf(response))
        return response.refreshHintSeconds * 1000
      })
      .catch((error: unknown) => {
        counts.fetched(grpcCodeOf(error))
        throw error
      })
      .finally(() => void (running = undefined)))

  const readLater = (ms: number): void => {
    if (!isStopped) timer = setTimeout(() => void readAgain(), Math.min(ms, MAX_TIMER_MS)).unref()
  }

  async function readAgain(): Promise<void> {
    const again = await read().catch((error: unknown) => {
      if (!isStopped) log.error('the keys of the external signer cannot be read; those known before count', { error })
      return RETRY_MS
    })
    readLater(again)
  }

  readLater(await read())
  const ofId = (id: string | undefined): readonly ExternalKey[] =>
    id === undefined ? known : known.filter(key => key.id === id)
  return {
    known: () => known,
    async keysFor(id) {
      const found = ofId(id)
      if (found.length > 0) return found
      await read().catch((error: unknown) => log.error('the keys of the external signer cannot be read', { error }))
      return ofId(id)
    },
    stop() {
      isStopped = true
      clearTimeout(timer)
    },
  }
}

function keysOf({ keys, dataTimestamp, refreshHintSeconds }: KeysResponse): readonly ExternalKey[] {
  if (refreshHintSeconds <= 0) throw new Error(`found invalid refresh hint (${refreshHintSeconds}s)`)
  if (keys.length === 0) throw new Error('found no keys')
  if (dataTimestamp === null) throw new Error('invalid data timestamp: invalid nil Timestamp')
  return keys.map(({ keyId, key, excludeFromOidcDiscovery }) => {
    if (keyId === '' || keyId.length > MAX_ID_LENGTH) throw new Error(`found invalid public key id ${quote(keyId)}`)
    if (key.length === 0) throw new Error('found empty public key')
    const publicKey = createPublicKey({ key, format: 'der', type: 'spki' })
    const algorithm = algorithmOf(publicKey)
    return { id: keyId, algorithm, publicKey, privateKey: undefined, isHidden: excludeFromOidcDiscovery }
  })
}

const timeOf = ({ dataTimestamp }: KeysResponse): number =>
  dataTimestamp === null ? 0 : dataTimestamp.seconds + dataTimestamp.nanos / 1e9

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))
