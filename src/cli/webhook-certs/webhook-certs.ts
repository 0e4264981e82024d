// `binnacle webhook-certs`: certificates for webhooks on this machine, and configurations that trust them.
import { join } from 'node:path'
import { readDocuments } from '../../authoring/documents.js'
import { UsageError } from '../../base/usage-error.js'
import { encodeJson } from '../../codec/json.js'
import type { ValueObject } from '../../meta/values/value.js'
import { list, optionalText, repeatedText, text } from '../../server/options.js'
import {
  ensureWebhookCertificates,
  hostsOfService,
  LOCAL_HOSTS,
  trustWebhooks,
  type WebhookCertificates,
} from '../../server/webhook-certificates.js'
import type { Command } from '../command.js'
import { parseFlags, printFlags } from '../flags/flags.js'

const certFlags = {
  dir: text('<folder>', 'where ca.crt, ca.key, tls.crt and tls.key are; those that are missing are created', 'certs'),
  host: list('<names>', 'further host names and addresses of the webhook'),
  service: list('<namespace/name>', 'services by which the webhook is called: name.namespace.svc'),
  manifests: repeatedText(
    '<path>',
    'a file or folder with webhook configurations and CRDs (- is stdin): printed with the caBundle, for kubectl apply -f -',
  ),
  url: optionalText('<url>', 'where the webhook listens: takes the place of services in the manifests'),
}

const HELP = `Usage: binnacle webhook-certs [flags]

Creates an authority and a certificate for a webhook that runs on this machine, for ${LOCAL_HOSTS.join(', ')} and the
hosts of the flags. Certificates that exist are kept while they are valid for the hosts.

Flags:
${printFlags(certFlags)}

Examples:
  binnacle webhook-certs --dir=certs
  binnacle webhook-certs --manifests=config/webhook/manifests.yaml --url=https://127.0.0.1:9443 | kubectl apply -f -
  kubectl get validatingwebhookconfigurations -o json | binnacle webhook-certs --manifests=- | kubectl apply -f -
`

export const WEBHOOK_CERTS: Command = { run: webhookCerts, help: () => HELP }

export async function webhookCerts(args: readonly string[]): Promise<void> {
  const { values } = parseFlags(args, certFlags)
  if (values.url !== undefined && !/^https:\/\/[^/?#]+(\/[^?#]*)?$/.test(values.url)) {
    throw new UsageError(`--url=${values.url}: it must be an https URL, such as https://127.0.0.1:9443`)
  }
  const hosts = [...LOCAL_HOSTS, ...values.host, ...values.service.flatMap(hostsIn)]
  const objects = objectsIn(values.manifests)
  const certificates = await ensureWebhookCertificates(values.dir, hosts)
  if (objects.length === 0) return console.log(summary(values.dir, certificates))
  const { caBundle } = certificates
  const items = objects.map(object => trustWebhooks(object, { caBundle, url: values.url }))
  const [only] = items
  const printed = items.length === 1 ? only! : { apiVersion: 'v1', kind: 'List', items }
  process.stdout.write(`${encodeJson(printed, { pretty: true })}\n`)
}

function hostsIn(service: string): readonly string[] {
  const [namespace = '', name = '', ...more] = service.split('/')
  if (namespace === '' || name === '' || more.length > 0) {
    throw new UsageError(`--service=${service}: it must be a namespace and a name, such as default/webhook`)
  }
  return hostsOfService(namespace, name)
}

function objectsIn(files: readonly string[]): ValueObject[] {
  const { documents, findings } = readDocuments(files)
  const [finding] = findings
  if (finding) throw new UsageError(`${finding.at.file}:${finding.at.line}: ${finding.message}`)
  return documents.map(({ value }) => value)
}

const summary = (folder: string, { caBundle }: WebhookCertificates): string =>
  [
    `certificate  ${join(folder, 'tls.crt')}`,
    `key          ${join(folder, 'tls.key')}`,
    `authority    ${join(folder, 'ca.crt')}`,
    `caBundle     ${caBundle}`,
  ].join('\n')
