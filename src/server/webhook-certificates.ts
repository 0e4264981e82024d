// Certificates for webhooks that run on this machine, such as in a test: an authority, a certificate for the webhook that
// it has signed, and configurations that trust it.
import { isIP } from 'node:net'
import { UsageError } from '../base/usage-error.js'
import { objectAt, objectOrNone, objectsAt, stringAt } from '../meta/values/access.js'
import type { ValueObject } from '../meta/values/value.js'
import { hostOfService } from '../webhook/client-config.js'
import { ensureServerPair, makeServerPair } from './tls/certificates.js'

export interface WebhookCertificates {
  /** PEM: the authority. */
  readonly ca: string
  /** The authority as webhook configurations have it: base64 of the PEM. */
  readonly caBundle: string
  /** PEM: the certificate and the key with which the webhook is to serve https. */
  readonly cert: string
  readonly key: string
}

/** Where a webhook on this machine listens. */
export const LOCAL_HOSTS: readonly string[] = ['127.0.0.1', '::1', 'localhost']

/** Certificates for these host names and addresses. They are valid for a year. */
export const makeWebhookCertificates = async (hosts: readonly string[] = LOCAL_HOSTS): Promise<WebhookCertificates> =>
  certificatesOf(await makeServerPair(checked(hosts)))

/** The same, kept in a folder as `ca.crt`, `ca.key`, `tls.crt` and `tls.key`. */
export const ensureWebhookCertificates = async (
  folder: string,
  hosts: readonly string[] = LOCAL_HOSTS,
): Promise<WebhookCertificates> => certificatesOf(await ensureServerPair(folder, 'tls', checked(hosts)))

const certificatesOf = ({ ca, server }: Awaited<ReturnType<typeof makeServerPair>>): WebhookCertificates => ({
  ca,
  caBundle: Buffer.from(ca).toString('base64'),
  ...server,
})

function checked(hosts: readonly string[]): readonly string[] {
  const wrong = hosts.find(host => isIP(host) === 0 && !/^(\*\.)?[a-z0-9]([a-z0-9.-]*[a-z0-9])?$/i.test(host))
  if (wrong === undefined) return hosts
  throw new UsageError(`${JSON.stringify(wrong)} is neither a host name nor an address`)
}

/** The host names of a service: `name.namespace.svc` is what webhooks are called by. */
export const hostsOfService = (namespace: string, name: string): readonly string[] => {
  const host = hostOfService({ namespace, name })
  return [host, `${host}.cluster.local`]
}

// ---- configurations

export interface WebhookTrust {
  readonly caBundle: string
  /** Webhooks that name a service are called at this URL instead, with the path of the service. */
  readonly url?: string | undefined
}

/**
 * A MutatingWebhookConfiguration, a ValidatingWebhookConfiguration or a CustomResourceDefinition with a conversion
 * webhook, with the caBundle (and the URL) of the webhook; any other object as it is. Items of a List are changed, too.
 */
export function trustWebhooks(object: ValueObject, trust: WebhookTrust): ValueObject {
  switch (object['kind']) {
    case 'MutatingWebhookConfiguration':
    case 'ValidatingWebhookConfiguration':
      return { ...object, webhooks: objectsAt(object, 'webhooks').map(webhook => withTrust(webhook, trust)) }
    case 'CustomResourceDefinition': {
      const spec = objectAt(object, 'spec')
      const conversion = objectAt(spec, 'conversion')
      const webhook = objectOrNone(conversion, 'webhook')
      if (!webhook) return object
      return { ...object, spec: { ...spec, conversion: { ...conversion, webhook: withTrust(webhook, trust) } } }
    }
    case 'List':
      return { ...object, items: objectsAt(object, 'items').map(item => trustWebhooks(item, trust)) }
    default:
      return object
  }
}

function withTrust(webhook: ValueObject, { caBundle, url }: WebhookTrust): ValueObject {
  const clientConfig = objectAt(webhook, 'clientConfig')
  const service = objectOrNone(clientConfig, 'service')
  if (url === undefined || !service) return { ...webhook, clientConfig: { ...clientConfig, caBundle } }
  const { service: _, ...rest } = clientConfig
  const path = stringAt(service, 'path') || '/'
  return { ...webhook, clientConfig: { ...rest, caBundle, url: url.replace(/\/$/, '') + path } }
}
