// The file of --egress-selector-config-file: through which proxies connections are opened, by where they lead.
import { existsSync, readFileSync } from 'node:fs'
import { type ConnectProxy, type Dial, type Dials, dialThrough } from '../../base/dial.js'
import { once } from '../../base/memo.js'
import { UsageError } from '../../base/usage-error.js'
import {
  asStruct,
  childPath,
  type FieldError,
  fieldDuplicate,
  fieldInvalid,
  fieldNotSupported,
  fieldRequired,
  indexPath,
  printFieldErrors,
} from '../../meta/errors/field-errors.js'
import { objectAt, objectOrNone, objectsAt, stringAt } from '../../meta/values/access.js'
import type { ValueObject } from '../../meta/values/value.js'
import { type ConfigurationScheme, decodeConfiguration } from '../../types/configuration-document.js'
import type { FieldSpec, TypeSpec } from '../../types/type.js'
import { builtinTypesAnd, type TypeTable } from '../../types/type-table.js'

const SCHEME: ConfigurationScheme = {
  kinds: ['v1alpha1', 'v1beta1'].map(version => `apiserver.k8s.io/${version} EgressSelectorConfiguration`),
  scheme: 'k8s.io/apiserver/pkg/server/egressselector/config.go:33',
}

const text = (name: string): FieldSpec => ({ name, type: 'string', omitempty: true })
const part = (name: string, type: string): FieldSpec => ({
  name,
  type: `egress.${type}`,
  omitempty: true,
  pointer: true,
})
const TYPES: Readonly<Record<string, TypeSpec>> = {
  'egress.EgressSelectorConfiguration': {
    fields: [
      { type: 'meta/v1.TypeMeta', inline: true },
      { name: 'egressSelections', type: '[]egress.EgressSelection' },
    ],
  },
  'egress.EgressSelection': { fields: [text('name'), { name: 'connection', type: 'egress.Connection' }] },
  'egress.Connection': { fields: [text('proxyProtocol'), part('transport', 'Transport')] },
  'egress.Transport': { fields: [part('tcp', 'TCPTransport'), part('uds', 'UDSTransport')] },
  'egress.TCPTransport': { fields: [text('url'), part('tlsConfig', 'TLSConfig')] },
  'egress.UDSTransport': { fields: [text('udsName')] },
  'egress.TLSConfig': { fields: ['caBundle', 'clientKey', 'clientCert', 'tlsServerName'].map(text) },
}

const configurationTypes = once(
  (): TypeTable =>
    builtinTypesAnd({
      kinds: Object.fromEntries(SCHEME.kinds.map(kind => [kind, 'egress.EgressSelectorConfiguration'])),
      types: TYPES,
    }),
)

/** Throws a UsageError with kube-apiserver's message. */
export function parseEgressConfiguration(bytes: Buffer): Dials {
  const selections = objectsAt(decoded(bytes), 'egressSelections').map(selection => ({
    name: canonical(stringAt(selection, 'name')),
    connection: objectAt(selection, 'connection'),
  }))
  const errors = [
    ...selections.flatMap(({ connection }) => errorsOfConnection(connection)),
    ...errorsOfNames(selections.map(({ name }) => name)),
  ]
  if (errors.length > 0) {
    throw new UsageError(`failed to validate egress selector configuration: ${printFieldErrors(errors)}`)
  }
  const dialOf = (name: string): Dial | undefined => {
    const found = selections.find(selection => selection.name === name)
    return found && readDial(found.connection)
  }
  return { cluster: dialOf('cluster'), controlPlane: dialOf('controlplane'), etcd: dialOf('etcd') }
}

function decoded(bytes: Buffer): ValueObject {
  try {
    return decodeConfiguration(bytes, SCHEME, configurationTypes())
  } catch (error) {
    if (!(error instanceof UsageError)) throw error
    throw new UsageError(`failed to read egress selector config: ${error.message}`)
  }
}

/** `master` is an old name. */
const canonical = (name: string): string => (name === 'master' ? 'controlplane' : name.toLowerCase())

// ---- validation

const AT = 'service.connection'
const NAMES = ['cluster', 'controlplane', 'etcd']

function errorsOfNames(names: readonly string[]): FieldError[] {
  return names.flatMap((name, i) => {
    if (names.indexOf(name) < i) return [fieldDuplicate(indexPath(AT, i), name)]
    return NAMES.includes(name) ? [] : [fieldNotSupported(AT, name, NAMES)]
  })
}

function errorsOfConnection(connection: ValueObject): FieldError[] {
  const protocol = stringAt(connection, 'proxyProtocol')
  const transport = objectOrNone(connection, 'transport')
  switch (protocol) {
    case 'Direct':
      return transport === undefined
        ? []
        : [fieldInvalid(childPath(AT, 'transport'), 'direct', 'config must be absent for direct connect')]
    case 'HTTPConnect':
      return transport === undefined ? [withoutTransport(protocol)] : errorsOfConnect(transport)
    case 'GRPC': {
      if (transport === undefined) return [withoutTransport(protocol)]
      const uds = objectOrNone(transport, 'uds')
      return uds ? errorsOfSocket(uds) : [fieldRequired(childPath(AT, 'uds'), 'UDS must be set with GRPC')]
    }
    default:
      return [fieldNotSupported(childPath(AT, 'protocol'), protocol, ['Direct', 'HTTPConnect', 'GRPC'])]
  }
}

const withoutTransport = (protocol: string): FieldError =>
  fieldRequired(childPath(AT, 'transport'), `transport must be set for ${protocol}`)

function errorsOfConnect(transport: ValueObject): FieldError[] {
  const tcp = objectOrNone(transport, 'tcp')
  const uds = objectOrNone(transport, 'uds')
  if (tcp && uds) {
    const why = 'TCP and UDS cannot both be set'
    return [fieldInvalid(childPath(AT, 'tcp'), asStruct(inGo(tcp)), why)]
  }
  if (uds) return errorsOfSocket(uds)
  return tcp ? errorsOfTcp(tcp) : [fieldRequired(childPath(AT, 'tcp'), 'One of TCP or UDS must be set')]
}

/** The members as messages of kube-apiserver name them. */
function inGo(tcp: ValueObject): ValueObject {
  const tls = objectOrNone(tcp, 'tlsConfig')
  return {
    URL: stringAt(tcp, 'url'),
    TLSConfig: tls
      ? {
          CABundle: stringAt(tls, 'caBundle'),
          ClientKey: stringAt(tls, 'clientKey'),
          ClientCert: stringAt(tls, 'clientCert'),
          TLSServerName: stringAt(tls, 'tlsServerName'),
        }
      : null,
  }
}

const errorsOfSocket = (uds: ValueObject): FieldError[] =>
  stringAt(uds, 'udsName') === ''
    ? [fieldInvalid(childPath(AT, 'udsName'), 'nil', 'must be present for UDS connections')]
    : []

function errorsOfTcp(tcp: ValueObject): FieldError[] {
  const url = stringAt(tcp, 'url')
  const tls = objectOrNone(tcp, 'tlsConfig')
  const at = childPath(AT, 'tlsConfig')
  if (url.startsWith('https://')) {
    return tls ? errorsOfTls(tls, at) : [fieldRequired(at, 'TLSConfig must be present when using HTTPS')]
  }
  if (url.startsWith('http://'))
    return tls ? [fieldInvalid(at, 'nil', 'config must not be present when using HTTP')] : []
  return [fieldInvalid(childPath(AT, 'url'), url, 'supported connection protocols are http:// and https://')]
}

function errorsOfTls(tls: ValueObject, at: string): FieldError[] {
  const caBundle = stringAt(tls, 'caBundle')
  const file = (name: string, what: string, missing: string): FieldError[] => {
    const path = stringAt(tls, name)
    if (path === '') return [fieldInvalid(childPath(at, name), 'nil', missing)]
    return existsSync(path) ? [] : [fieldInvalid(childPath(at, name), path, `TLS client ${what} does not exist`)]
  }
  return [
    ...(caBundle === '' || existsSync(caBundle)
      ? []
      : [fieldInvalid(childPath(at, 'caBundle'), caBundle, 'TLS config ca bundle does not exist')]),
    ...file('clientCert', 'cert', 'Using TLS requires clientCert'),
    ...file('clientKey', 'key', 'Using TLS requires requires clientKey'),
  ]
}

// ---- what is valid

function readDial(connection: ValueObject): Dial | undefined {
  const protocol = stringAt(connection, 'proxyProtocol')
  if (protocol === 'Direct') return undefined
  if (protocol === 'GRPC') {
    throw new UsageError('proxyProtocol GRPC is not available here; HTTPConnect is, over TCP or a socket')
  }
  return dialThrough(readProxy(objectAt(connection, 'transport')))
}

function readProxy(transport: ValueObject): ConnectProxy {
  const uds = objectOrNone(transport, 'uds')
  if (uds) {
    const path = stringAt(uds, 'udsName')
    return { name: path, at: { path } }
  }
  const tcp = objectAt(transport, 'tcp')
  const url = stringAt(tcp, 'url')
  if (!URL.canParse(url)) throw new UsageError(`${JSON.stringify(url)} is not the URL of a proxy`)
  const { protocol, hostname, port } = new URL(url)
  const at = {
    host: hostname.replace(/^\[(.*)\]$/, '$1'),
    port: Number(port || (protocol === 'https:' ? 443 : 80)),
  }
  const tls = objectOrNone(tcp, 'tlsConfig')
  return { name: `${hostname}:${at.port}`, at, ...(tls && { tls: readTls(tls) }) }
}

function readTls(tls: ValueObject): ConnectProxy['tls'] {
  const file = (name: string): string => readFileSync(stringAt(tls, name), 'utf8')
  const servername = stringAt(tls, 'tlsServerName')
  return {
    cert: file('clientCert'),
    key: file('clientKey'),
    ...(stringAt(tls, 'caBundle') !== '' && { ca: file('caBundle') }),
    ...(servername !== '' && { servername }),
  }
}
