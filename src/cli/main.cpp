/// bird: trains with compressed updates, and compares methods.
#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <string>

#include "bird/bird.h"
#include "bird/error.hpp"
#include "commands.hpp"
#include "dataset.hpp"
#include "report.hpp"

namespace {

/// One line, whatever the message was.
int complain(std::string message, int exit_code)
{
  std::replace(message.begin(), message.end(), '\n', ' ');
  fmt::print(stderr, "bird: {}\n", message);
  return exit_code;
}

}  // namespace

int main(int argc, char** argv)
{
  CLI::App app{"bird: data-parallel training with compressed updates"};
  app.set_version_flag("--version", std::string{"bird "} + bird_version());
  app.require_subcommand(0, 1);  // asked for below, so that a misspelled one is named
  app.footer(
    "`bird train` trains LeNet-5 on Fashion-MNIST with four workers. `bird train --help` has examples.");
  int exit_code = 0;
  bird::cli::add_train_command(app, exit_code);
  bird::cli::add_compare_command(app, exit_code);
  bird::cli::add_inspect_command(app, exit_code);
  try {
    app.parse(argc, argv);
    if (app.get_subcommands().empty()) {
      return complain("a subcommand is required; `bird --help` lists them", bird::cli::exit_bad_usage);
    }
    return exit_code;
  } catch (CLI::ParseError const& error) {
    if (error.get_exit_code() == 0) {  // --help, --version
      return app.exit(error);
    }
    return complain(error.what(), bird::cli::exit_bad_usage);
  } catch (bird::invalid_argument const& error) {
    return complain(error.what(), bird::cli::exit_bad_usage);
  } catch (bird::trainer::bad_dataset const& error) {
    return complain(error.what(), bird::cli::exit_bad_usage);
  } catch (bird::trainer::unwritable const& error) {
    return complain(error.what(), bird::cli::exit_bad_usage);
  } catch (std::exception const& error) {
    return complain(error.what(), bird::cli::exit_failed);
  }
}
