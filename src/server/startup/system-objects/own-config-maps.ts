// ConfigMaps in kube-system that kube-apiserver writes about itself: by which certificates and headers it authenticates
// users, which extension servers read, and since when it tracks the use of tokens in Secrets.
import { X509Certificate } from 'node:crypto'
import type { Kind } from '../../../kinds/kind.js'
import { objectAt, stringAt } from '../../../meta/values/access.js'
import { millisOf } from '../../../meta/values/time.js'
import { equalValues, type ValueObject } from '../../../meta/values/value.js'
import type { ApiContext } from '../../../verbs/api-context.js'
import { serverObjects } from '../../../verbs/system-writes.js'
import type { RequestHeaderOptions } from '../../options/access/authentication.js'

const NAMESPACE = 'kube-system'
const AUTHENTICATION = 'extension-apiserver-authentication'
const TRACKING = 'kube-apiserver-legacy-service-account-token-tracking'

export interface AuthenticationInfo {
  /** PEM: the authorities whose client certificates name a user. */
  readonly clientCa: string | undefined
  readonly requestHeader: RequestHeaderOptions | undefined
}

/** Creates both ConfigMaps, or adds to them what they lack. */
export async function publishConfigMaps(
  context: ApiContext,
  configMaps: Kind,
  info: AuthenticationInfo,
): Promise<void> {
  await publish(context, configMaps, TRACKING, old => {
    const isKnown = !Number.isNaN(millisOf(stringAt(old, 'since')))
    return isKnown ? old : { ...old, since: new Date(context.now()).toISOString().slice(0, 10) }
  })
  if (info.clientCa !== undefined) await publishAuthentication(context, configMaps, info)
}

export const publishAuthentication = (context: ApiContext, configMaps: Kind, info: AuthenticationInfo): Promise<void> =>
  publish(context, configMaps, AUTHENTICATION, old => authenticationData(info, old, context.now()))

async function publish(
  context: ApiContext,
  configMaps: Kind,
  name: string,
  dataFor: (old: ValueObject) => ValueObject,
): Promise<void> {
  const objects = serverObjects(context)
  await objects.create(configMaps, { metadata: { name, namespace: NAMESPACE }, data: dataFor({}) })
  await objects.change(configMaps, NAMESPACE, name, old => {
    const data = dataFor(objectAt(old, 'data'))
    return equalValues(data, old['data']) ? undefined : { ...old, data }
  })
}

/** The certificates of other servers on the same store stay until they expire. */
function authenticationData(
  { clientCa, requestHeader }: AuthenticationInfo,
  old: ValueObject,
  now: number,
): ValueObject {
  const joined = (key: string, own: string): string => joinCertificates(stringAt(old, key), own, now)
  return {
    ...old,
    ...(clientCa !== undefined && { 'client-ca-file': joined('client-ca-file', clientCa) }),
    ...(requestHeader && {
      'requestheader-client-ca-file': joined('requestheader-client-ca-file', requestHeader.ca),
      'requestheader-allowed-names': JSON.stringify(requestHeader.allowedNames),
      'requestheader-username-headers': headerList(requestHeader.usernameHeaders),
      ...(requestHeader.uidHeaders.length > 0 && {
        'requestheader-uid-headers': headerList(requestHeader.uidHeaders),
      }),
      'requestheader-group-headers': headerList(requestHeader.groupHeaders),
      'requestheader-extra-headers-prefix': headerList(requestHeader.extraPrefixes),
    }),
  }
}

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g

function joinCertificates(before: string, own: string, now: number): string {
  const kept = (before.match(CERTIFICATE) ?? []).filter(pem => !isExpired(pem, now))
  return [...new Set([...kept, ...(own.match(CERTIFICATE) ?? [])])].map(pem => `${pem}\n`).join('')
}

function isExpired(pem: string, now: number): boolean {
  try {
    return Date.parse(new X509Certificate(pem).validTo) < now
  } catch {
    return true
  }
}

/** `X-Remote-User`, as such headers are usually written. */
const headerList = (names: readonly string[]): string =>
  JSON.stringify(names.map(name => name.replace(/(^|-)[a-z]/g, letter => letter.toUpperCase())))
