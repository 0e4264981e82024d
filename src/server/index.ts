// Binnacle inside another program, such as a test: `const server = await startBinnacle()`.
import { randomBytes } from 'node:crypto'
import type { Identity } from '../auth/authenticator.js'
import type { ConvertFunction } from '../convert/function-conversion.js'
import { type HostOverrides, parseHostOverride } from '../webhook/host-overrides.js'
import { startServer } from './server.js'
import { printKubeconfig } from './tls/kubeconfig.js'
import type { KeyPair } from './tls/x509.js'

export type { ConvertFunction, Identity, KeyPair }

export interface BinnacleOptions {
  /**
   * Where objects are kept: in memory, which is as new at every start and gone at the end; in a folder, which only one
   * server can have open at a time; or in etcd. In memory when nothing is said.
   */
  readonly storage?:
    | 'memory'
    | { readonly folder: string }
    | { readonly etcd: readonly string[]; readonly prefix?: string }
  /** Any free one when nothing is said. */
  readonly port?: number
  /** `127.0.0.1` when nothing is said. */
  readonly address?: string
  /** Who is let in by which bearer token, beside the administrator. */
  readonly tokens?: Readonly<Record<string, { readonly name: string; readonly groups?: readonly string[] }>>
  /** Who may do what: by the RBAC objects of the API, when nothing is said, or everybody who is known everything. */
  readonly authorization?: 'RBAC' | 'AlwaysAllow'
  /**
   * Whether requests are let in that do not prove who sent them, as system:anonymous. They are when nothing is said, but
   * never with `AlwaysAllow`, where they could do everything.
   */
  readonly anonymous?: boolean
  /** Whether objects are deleted whose owners are gone; they are when nothing is said. */
  readonly garbageCollection?: boolean
  /** Whether what is in a namespace is deleted along with it; it is when nothing is said. */
  readonly namespaceController?: boolean
  /** Which versions of the API are served that are not by default, or not served that are: `{ 'api/beta': true }`. */
  readonly runtimeConfig?: Readonly<Record<string, boolean>>
  /**
   * Where webhooks are found whose names no DNS knows: `{ 'converter.default.svc': '127.0.0.1:9443' }`. Services are also
   * found by the EndpointSlices and Endpoints that are stored for them.
   */
  readonly webhookHosts?: Readonly<Record<string, string>>
  /**
   * Functions that convert custom objects between versions, by the name of the definition, in the place of a webhook:
   * `{ 'widgets.example.com': (object, to) => ({ ...object, apiVersion: to }) }`.
   */
  readonly conversions?: Readonly<Record<string, ConvertFunction>>
}

export interface Binnacle {
  /** `https://127.0.0.1:41234`. */
  readonly url: string
  /** The text of a kubeconfig by which the administrator gets in. */
  readonly kubeconfig: string
  /** PEM: who vouches for the server. */
  readonly ca: string
  /** The administrator's bearer token, made for this start. */
  readonly token: string
  /** The administrator's client certificate, another way to get in. */
  readonly client: KeyPair
  /** Answers what is under way, ends watches, and lets go of everything. */
  stop(): Promise<void>
}

/** Starts a server with objects, certificates and a token of its own: any number of them can run beside each other. */
export async function startBinnacle(options: BinnacleOptions = {}): Promise<Binnacle> {
  const { address = '127.0.0.1', port = 0, tokens = {}, authorization, anonymous } = options
  const token = randomBytes(24).toString('base64url')
  const server = await startServer({
    storage: storageOf(options),
    https: { address, port, certificates: {} },
    tokens: new Map([[token, ADMIN], ...Object.entries(tokens).map(identityOf)]),
    authorization,
    anonymous,
    garbageCollection: options.garbageCollection,
    runtimeConfig: options.runtimeConfig,
    namespaceController: options.namespaceController,
    webhookHosts: hostOverrides(options),
    conversions: options.conversions,
  })
  const { ca = '', client = { cert: '', key: '' } } = server.access
  return {
    url: server.access.server,
    kubeconfig: printKubeconfig(server.access),
    ca,
    token,
    client,
    stop: () => server.stop(),
  }
}

const ADMIN: Identity = { name: 'kubernetes-admin', uid: '', groups: ['system:masters'], extra: {} }

type TokenOptions = NonNullable<BinnacleOptions['tokens']>

const identityOf = ([token, { name, groups = [] }]: [string, TokenOptions[string]]): [string, Identity] => [
  token,
  { name, uid: '', groups, extra: {} },
]

const hostOverrides = ({ webhookHosts = {} }: BinnacleOptions): HostOverrides =>
  new Map(
    Object.entries(webhookHosts).map(([host, address]) => {
      const known = parseHostOverride(`${host}=${address}`)
      if (!known) throw new Error(`webhookHosts: ${host} cannot be found at ${address}; it takes 127.0.0.1:9443`)
      return known
    }),
  )

function storageOf({ storage = 'memory' }: BinnacleOptions) {
  if (storage === 'memory') return { kind: 'memory' } as const
  if ('folder' in storage) return { kind: 'lmdb', directory: storage.folder } as const
  return { kind: 'etcd', endpoints: storage.etcd, prefix: storage.prefix } as const
}
