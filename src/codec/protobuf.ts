// The wire format of protocol buffers.
export * from './protobuf/wire.js'
