// SPDX-License-Identifier: Apache-2.0
// The main function of a model's program.
//
//   NAME_model               the full size
//   NAME_model --quick       a small one
//     --mutants              and each mutant, in the small size, which must be found
//     --mutant NAME          only this mutant, and the way to what it does
//
// Ends with 0 if the model is sound and each mutant was found.
//
// Besides what checker.h asks for, a model has
//   enum class Mutant { none, ... }     the mutants
//   kMutants                            their names, in that order, without none
//   Model(Size, Mutant)
#pragma once

#include "checker.h"

#include <chrono>
#include <functional>
#include <string>
#include <vector>

namespace zklock::model {

enum class Size { quick, full };

struct Run {
  std::string model;
  std::vector<std::string> mutants;
  std::function<Finding(Size, int mutant)> check;  // 0: no mutant
};

int run(const Run& run, const std::vector<std::string>& arguments);

template <class Model>
int run_model(const char* name, int argc, char** argv) {
  const auto check = [](Size size, int mutant) {
    const Model model(size, static_cast<typename Model::Mutant>(mutant));
    return Checker<Model>(model).run();
  };
  const std::vector<std::string> mutants(std::begin(Model::kMutants), std::end(Model::kMutants));
  return run({name, mutants, check}, {argv + 1, argv + argc});
}

}  // namespace zklock::model
