import { expect, test } from 'vitest'
import { asGoStruct } from '../../../common/go-struct.js'
import { diffPodSpecs, diffSpecs } from './spec-diff.js'

test('equal specs have no differences', () => {
  expect(diffPodSpecs({ hostNetwork: true }, { hostNetwork: true })).toBe('')
})

test('fields have the names and the places that they have in Go', () => {
  const diff = diffPodSpecs({}, { dnsPolicy: 'None' })
  expect(diff).toBe(
    '@@ -6,7 +6,7 @@\n  "RestartPolicy": "",\n  "TerminationGracePeriodSeconds": null,\n  "ActiveDeadlineSeconds": null,\n- "DNSPolicy": "",\n+ "DNSPolicy": "None",\n  "NodeSelector": null,\n  "ServiceAccountName": "",\n  "AutomountServiceAccountToken": null,\n',
  )
})

test('changes that are far apart are separate hunks', () => {
  const diff = diffPodSpecs({ hostname: 'a', restartPolicy: 'Always' }, { hostname: 'b', restartPolicy: 'Never' })
  expect(diff.match(/^@@/gm)).toHaveLength(2)
})

test('what is inlined stands among the other fields, numbers or texts as they are', () => {
  const container = { name: 'c', livenessProbe: { httpGet: { port: 80 } } }
  const diff = diffPodSpecs({ containers: [container] }, { containers: [{ ...container, livenessProbe: null }] })
  expect(diff).toContain('-     "Port": 80,\n')
  expect(diff).toContain('-   "LivenessProbe": {\n')
  expect(diff).toContain('+   "LivenessProbe": null,\n')
})

test('specs of other kinds are printed in the same way', () => {
  const claim = (storage: string) => ({ accessModes: ['ReadWriteOnce'], resources: { requests: { storage } } })
  expect(diffSpecs('core/v1.PersistentVolumeClaimSpec', claim('1Gi'), claim('2Gi'))).toBe(
    '@@ -6,7 +6,7 @@\n  "Resources": {\n   "Limits": null,\n   "Requests": {\n-   "storage": "1Gi"\n+   "storage": "2Gi"\n   }\n  },\n  "VolumeName": "",\n',
  )
})

test('a value alone', () => {
  expect(asGoStruct('storage/v1.VolumeAttachmentSource', { persistentVolumeName: 'a' }).text).toBe(
    '{"PersistentVolumeName":"a","InlineVolumeSpec":null}',
  )
})
