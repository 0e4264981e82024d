// Counts the certificates that signers issue to requests with `spec.expirationSeconds`, and those of them that are valid for
// about as long. By kube-apiserver's names and labels.

import { X509Certificate } from 'node:crypto'
import type { MetricsRegistry } from '../../base/metrics.js'
import { pemBlocks } from '../../base/pem.js'
import type { ApiObject } from '../../meta/object/api-object.js'
import { numberOrNone, objectAt, stringAt } from '../../meta/values/access.js'
import type { AdmissionPlugin } from '../chain.js'
import { CSR_RESOURCE } from '../plugins/signer-access.js'

const PREFIX = 'apiserver_certificates_registry_csr_'
const SIGNERS = 'sliced by signer (only kubernetes.io signer names are specifically identified)'
/** Signers may date a certificate back, and may differ by a twentieth. */
const BACKDATED_SECONDS = 5 * 60
const TOLERANCE = 1 / 20

export function certificateDurations(metrics: MetricsRegistry): AdmissionPlugin {
  const requested = metrics.counter(
    `${PREFIX}requested_duration_total`,
    `Total number of issued CSRs with a requested duration, ${SIGNERS}`,
    ['signerName'],
  )
  const honored = metrics.counter(
    `${PREFIX}honored_duration_total`,
    `Total number of issued CSRs with a requested duration that was honored, ${SIGNERS}`,
    ['signerName'],
  )
  /** Requests whose certificate is about to be stored. */
  const issued = new WeakSet<ApiObject>()
  return {
    name: 'CertificateDurations',
    operations: new Set(['UPDATE']),
    resources: [`${CSR_RESOURCE}/status`],
    validate({ object, oldObject, request }) {
      if (!object || !oldObject || request.dryRun) return
      if (certificateOf(object) !== '' && certificateOf(oldObject) === '' && secondsOf(object)) issued.add(object)
    },
    stored(object) {
      if (!issued.delete(object)) return
      const name = stringAt(objectAt(object, 'spec'), 'signerName')
      const signer = name.startsWith('kubernetes.io/') ? name : 'other'
      requested.with(signer).inc()
      if (isHonored(secondsOf(object)!, certificateOf(object))) honored.with(signer).inc()
    },
  }
}

const certificateOf = (request: ApiObject): string => stringAt(objectAt(request, 'status'), 'certificate')
const secondsOf = (request: ApiObject): number | undefined =>
  numberOrNone(objectAt(request, 'spec'), 'expirationSeconds')

/** Validation has read every block in the same way, so that there is one, and reading it cannot fail. */
function isHonored(seconds: number, certificate: string): boolean {
  const [first] = pemBlocks(Buffer.from(certificate, 'base64').toString('latin1'))
  const { validFrom, validTo } = new X509Certificate(first!.content)
  const lifetime = (Date.parse(validTo) - Date.parse(validFrom)) / 1000
  return Math.abs(seconds - lifetime) < BACKDATED_SECONDS + seconds * TOLERANCE
}
