// Admission by functions of the program that embeds the server: `startBinnacle({ admission: [{ name, rules, validate }] })`.
// Requests are matched as for webhooks, and the functions are called in this process.

export { type AdmissionCall, type AdmissionCalls, createAdmissionCalls } from './functions/calls.js'
export { compileFunctions, type FunctionPlugins } from './functions/compile.js'
export { AdmissionDenial, type DenialStatus } from './functions/denial.js'
export type {
  AdmissionFunction,
  AdmissionObject,
  AdmissionRequest,
  AdmissionRule,
  AdmissionSelector,
  AdmissionUserInfo,
} from './functions/function.js'
