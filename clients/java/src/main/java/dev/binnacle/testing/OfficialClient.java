package dev.binnacle.testing;

import io.kubernetes.client.openapi.ApiClient;
import io.kubernetes.client.util.Config;
import java.io.IOException;
import java.io.StringReader;
import java.io.UncheckedIOException;

/** A class of its own, because the official client may not be on the class path. */
final class OfficialClient {
  private OfficialClient() {}

  static ApiClient create(BinnacleServer server) {
    try {
      return Config.fromConfig(new StringReader(server.kubeconfig()));
    } catch (IOException error) {
      throw new UncheckedIOException(error);
    }
  }
}
